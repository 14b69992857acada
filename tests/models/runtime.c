/* The runtime's part in comparisons of models with libc, where no runtime is: nothing has a
 * length or bounds of its own. Weak, so that a comparison may have its own instead.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define WEAK __attribute__((weak))

WEAK void __nm_reads(const void *start, size_t size) { (void)start, (void)size; }
WEAK void __nm_writes(const void *start, size_t size) { (void)start, (void)size; }
WEAK void __nm_leaves(void *stream, const void *start, size_t size) { (void)stream, (void)start, (void)size; }
WEAK void __nm_leaves_to(int fd, const void *start, size_t size) { (void)fd, (void)start, (void)size; }
WEAK bool __nm_keeps(int fd) { return (void)fd, false; }
WEAK int __nm_descriptor(void *stream) { return (void)stream, -1; }
WEAK void __nm_model_free(void *memory) { free(memory); }
WEAK void __nm_terminated(const char *start) { (void)start; }
WEAK bool __nm_has_open_end(const char *end) { return (void)end, false; }
WEAK size_t __nm_open_length(const char *start, size_t length) { return (void)start, length; }
WEAK void __nm_end_string(char *end, size_t length) { (void)end, (void)length; }
WEAK void __nm_move_labels(void *to, const void *from, size_t size) { (void)to, (void)from, (void)size; }
WEAK size_t __nm_settle(size_t value) { return value; }
WEAK void *__nm_settle_pointer(const void *pointer) { return (void *)pointer; }
WEAK size_t __nm_recorded(size_t value) { return value; }
WEAK void __nm_hint(bool condition) { (void)condition; }
WEAK void __nm_words(const char *a, size_t n, const char *b, size_t m) { (void)a, (void)n, (void)b, (void)m; }
WEAK bool __nm_moves(const void *pointer) { return (void)pointer, false; }
WEAK const void *__nm_recorded_pointer(const void *pointer) { return pointer; }
WEAK void __nm_read_as_float(const void *start, size_t size) { (void)start, (void)size; }
WEAK void __nm_in_environment(const char *text, size_t size) { (void)text, (void)size; }
WEAK void __nm_unfollowed(const void *start) { (void)start; }
WEAK size_t __nm_room(const void *start) { return (void)start, 0; }
WEAK bool __nm_ends_line(const char *byte) { return (void)byte, false; }
WEAK size_t __nm_word_length(const char *word, size_t count, bool at_end)
{
    return (void)word, (void)at_end, count;
}
WEAK bool __nm_scans_stdin(void *stream) { return (void)stream, false; }
WEAK void __nm_before_scan(void *stream, void *known) { (void)stream, (void)known; }
WEAK void __nm_after_scan(void *stream, const void *known) { (void)stream, (void)known; }
/* Models go step by step where paths are explored: both ways are compared. */
WEAK bool __nm_explores(void) { return getenv("EXPLORES") != NULL; }
WEAK void __nm_clear(unsigned long start, unsigned long size) { (void)start, (void)size; }

/* Some libraries do not have them; only who compares them needs them. */
WEAK size_t strlcpy(char *to, const char *from, size_t room) { return (void)to, (void)from, room; }
WEAK size_t strlcat(char *to, const char *from, size_t room) { return (void)to, (void)from, room; }

void nearmiss_assume(bool condition)
{
    (void)condition;
}
