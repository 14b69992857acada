/* Memory that moves and changes hands, descriptors, mappings; argv[1] is a file. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "test.h"

int __nm_model_open(const char *, int, ...);
int __nm_model_close(int);
int __nm_model_dup(int);
ssize_t __nm_model_read(int, void *, size_t);
ssize_t __nm_model_pread(int, void *, size_t, off_t);
ssize_t __nm_model_readv(int, const struct iovec *, int);
void *__nm_model_mmap(void *, size_t, int, int, int, off_t);
int __nm_model_munmap(void *, size_t);
void *__nm_model_malloc(size_t);
void *__nm_model_calloc(size_t, size_t);
void *__nm_model_realloc(void *, size_t);
void __nm_model_free(void *);
void *__nm_model_memcpy(void *, const void *, size_t);
void *__nm_model_memmove(void *, const void *, size_t);
void *__nm_model_memset(void *, int, size_t);

static void descriptors(const char *path)
{
    char buffer[32];
    errno = 0;
    CHECK(__nm_model_open("/nonexistent/file", O_RDONLY) == -1 && errno == ENOENT);
    CHECK(__nm_model_open(NULL, O_RDONLY) == -1 && errno == EFAULT);
    int fd = __nm_model_open(path, O_RDONLY);
    CHECK(fd == 3);
    CHECK(__nm_model_read(fd, buffer, 4) == 4);
    SHOW("read", label_of(buffer + 3));
    CHECK(lseek(fd, 10, SEEK_SET) == 10);
    int other = __nm_model_dup(fd);
    CHECK(__nm_model_read(other, buffer, 4) == 4);
    SHOW("seek-dup", label_of(buffer));
    CHECK(__nm_model_pread(fd, buffer, 4, 2) == 4);
    SHOW("pread", label_of(buffer));
    struct iovec parts[2] = { { buffer, 2 }, { buffer + 10, 4 } };
    CHECK(__nm_model_readv(fd, parts, 2) == 6);
    SHOW("readv", label_of(buffer + 11));
    char *mapped = __nm_model_mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    CHECK(mapped != MAP_FAILED);
    SHOW("mmap", label_of(mapped + 5));
    SHOW("mmap-end", label_of(mapped + 40));
    CHECK(__nm_model_munmap(mapped, 8192) == 0);
    CHECK(summary_of(mapped) == 0);
    CHECK(__nm_model_close(fd) == 0 && __nm_model_close(other) == 0);
    fd = __nm_model_open("/dev/zero", O_RDONLY);
    CHECK(__nm_model_read(fd, buffer + 2, 4) == 4);
    SHOW("zero", label_of(buffer + 3));
    CHECK(!__nm_summary.mask || summary_of(buffer) != 0 || summary_of(buffer + 8) != 0);
    __nm_model_close(fd);
}

static void moving(char *input)
{
    char *heap = __nm_model_malloc(100);
    __nm_model_memcpy(heap + 3, input, 10);
    SHOW("memcpy", label_of(heap + 4));
    __nm_model_memmove(heap + 5, heap + 3, 10);
    SHOW("memmove", label_of(heap + 6));
    SHOW("memmove-last", label_of(heap + 14));
    char *moved = __nm_model_realloc(heap, 100000);
    SHOW("realloc", label_of(moved + 6));
    CHECK(moved == heap || summary_of(heap) == 0);
    uint32_t label = label_of(moved + 6);
    pass(__nm_model_memset, 0, __nm_cast(ZEXT | 8 << 8 | 32 << 16, label), 0);
    __nm_model_memset(moved + 50, moved[6], 20);
    SHOW("memset", label_of(moved + 69));
    CHECK(!__nm_summary.mask || __nm_thread.callee == 0);
    __nm_model_memset(moved + 50, 0, 20);
    SHOW("memset-zero", label_of(moved + 69));
    __nm_model_free(moved);
    CHECK(summary_of(moved) == 0);
    char *zeros = __nm_model_calloc(10, 10);
    CHECK(label_of(zeros) == 0);
    __nm_model_free(zeros);
    __nm_model_free(NULL);

    /* A symbolic size. */
    label = label_of(input);
    pass(__nm_model_malloc, __nm_cast(ZEXT | 8 << 8 | 64 << 16, label), 0, 0);
    __nm_model_free(__nm_model_malloc((unsigned char)input[0]));
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    descriptors(argv[1]);
    char input[32];
    CHECK(__nm_model_read(0, input, 32) == 16);
    moving(input);
    return 0;
}
