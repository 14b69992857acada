// Memchr stops at the byte.
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
    long n = sysconf(_SC_PAGESIZE);
    char *p = mmap(0, 2 * n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (mprotect(p + n, n, PROT_NONE)) return 3;
    p[n - 1] = 7;
    return memchr(p + n - 1, 7, 9) != p + n - 1;
}
