/* Arguments, standard input, terms, branches; the same with and without a recording. */
#include "test.h"

ssize_t __nm_model_read(int, void *, size_t);

/* Every register that preserve_most promises, around a hook without and one with result:
   returns 0 if all were kept. */
uint64_t registers(void);
__asm__(
    ".text\n"
    "registers:\n"
    "push %rbx\n"
    "movabs $0x400000000000001, %rdi\n mov $4, %esi\n mov $3, %edx\n mov $104, %ecx\n mov $108, %r8d\n"
    "mov $109, %r9d\n mov $110, %r10d\n mov $111, %eax\n"
    "call __nm_store\n"
    "mov %rax, %rbx\n sub $111, %rbx\n"
    "call __nm_load\n"
    "movabs $0x400000000000001, %rax\n sub %rax, %rdi\n or %rdi, %rbx\n sub $4, %rsi\n or %rsi, %rbx\n"
    "sub $3, %rdx\n or %rdx, %rbx\n sub $104, %rcx\n or %rcx, %rbx\n"
    "sub $108, %r8\n or %r8, %rbx\n sub $109, %r9\n or %r9, %rbx\n"
    "sub $110, %r10\n or %r10, %rbx\n"
    "mov %rbx, %rax\n pop %rbx\n ret\n");

int main(int argc, char **argv)
{
    int recording = getenv("NEARMISS_RECORD") != NULL;
    CHECK((__nm_summary.mask != 0) == recording);
    char buffer[64] = { 0 };
    errno = 77;
    ssize_t got = __nm_model_read(0, buffer, sizeof buffer);
    CHECK(got == 6 && errno == 77 && !memcmp(buffer, "hello\n", 6));
    CHECK((summary_of(buffer) != 0) == recording);
    CHECK(argc == 2 && !strcmp(argv[1], "ab"));

    uint32_t h = label_of(buffer);
    SHOW("h", h);
    SHOW("end", label_of(buffer + 6));
    SHOW("a", label_of(argv[1]));
    SHOW("zero", label_of(argv[1] + 2));
    SHOW("program", label_of(argv[0]));
    uint32_t word = __nm_load(ADDRESS(buffer) | 4ull << 56, 0x6c6c6568, 0);
    SHOW("word", word);

    uint32_t wide = __nm_cast(ZEXT | 8 << 8 | 32 << 16, h);
    uint32_t sum = binary(ADD, 32, wide, 0, 'h', 5);
    SHOW("sum", sum);
    int copy = 'h' + 5;
    __nm_store(ADDRESS(&copy) | 4ull << 56, sum, 0);
    SHOW("copy", __nm_load(ADDRESS(&copy) | 4ull << 56, (uint64_t)copy, 0));
    SHOW("masked", binary(AND, 32, sum, 0, 'h' + 5, 0));
    copy = 0;
    SHOW("stale", __nm_load(ADDRESS(&copy) | 4ull << 56, (uint64_t)copy, 0));

    uint32_t equal = binary(EQ, 8, h, 0, 'h', 'x');
    __nm_branch(equal, 0, 11);
    __nm_check(binary(ULT, 8, h, 0, 'h', 'x'), 1, 12);
    __nm_switch(h, 13);
    __nm_check_failed(14);
    __nm_fix(h, 1, 15);
    __nm_fix(h, 1, 15);
    __nm_lost(h, 3, 16);
    uint32_t big = __nm_constant(128, 1, 2);
    uint32_t zext = __nm_cast(ZEXT | 8 << 8 | 128 << 16, h);
    SHOW("wide", __nm_extract(binary(ADD, 128, zext, big, 'h', 1), 64, 8));
    SHOW("chosen", __nm_select(8 | 0 << 8, equal, h, 0, 'h', 3));
    CHECK(registers() == 0);
    CHECK(errno == 77);
    return 3;
}
