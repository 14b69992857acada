/* Counters of clang's coverage in memory that a server and its forked children share.
 *
 * NEARMISS_COVERAGE names a file. The pages of the counters, and those of the bitmaps of MC/DC, which
 * `paths::coverage` keeps apart from everything else in the program, are mapped from that file: what a
 * child counts is there whatever becomes of the child. Beside it `<file>.profraw` is written once, with
 * all counters zero: a profile in which only the counters must be replaced.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* From clang's profile runtime. */
void __llvm_profile_set_filename(const char *name);
int __llvm_profile_write_file(void);

extern char __start___llvm_prf_cnts[], __stop___llvm_prf_cnts[];
extern char __start___llvm_prf_bits[], __stop___llvm_prf_bits[];

static bool share(char *start, char *stop, int file, off_t offset)
{
    size_t size = (size_t)(stop - start);
    void *mapped = mmap(start, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, offset);
    return mapped == (void *)start;
}

/* Before the server stops the program, which is a constructor too. A program that is started anew, or
 * that a child executes, finds the file and counts on. */
__attribute__((constructor(101))) void __nm_coverage(void)
{
    static char profile[4096];
    const char *path = getenv("NEARMISS_COVERAGE");
    if (path == NULL)
        return;
    off_t counters = __stop___llvm_prf_cnts - __start___llvm_prf_cnts;
    off_t bits = __stop___llvm_prf_bits - __start___llvm_prf_bits;
    struct stat status = {0};
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    bool is_ready = file >= 0 && fstat(file, &status) == 0;
    if (is_ready && status.st_size == 0) {
        snprintf(profile, sizeof profile, "%s.profraw", path);
        __llvm_profile_set_filename(profile);
        is_ready = __llvm_profile_write_file() == 0 && ftruncate(file, counters + bits) == 0;
    } else if (is_ready && status.st_size != counters + bits) {
        /* Another program's. */
        close(file);
        return;
    }
    if (!is_ready || !share(__start___llvm_prf_cnts, __stop___llvm_prf_cnts, file, 0)
        || !share(__start___llvm_prf_bits, __stop___llvm_prf_bits, file, counters)) {
        perror(path);
        _exit(2);
    }
    close(file);
}
