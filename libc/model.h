/* What every model in this directory needs.
 *
 * A model `__nm_model_f` does exactly what libc's `f` does, but in plain loops and
 * comparisons that `nearmiss cc` instruments, so that symbolic bytes flow through it and the
 * decisions made about them become branches of the recorded path. Three rules keep that cheap:
 *
 *  1. A process that does not record calls the real function at once (`nm_records`).
 *  2. In one that does, data without labels is given to the real function too
 *     (`nm_is_concrete`); only labelled data is walked byte by byte.
 *  3. A condition is one branch where it can be (`|` and `&`, not `||` and `&&`): each branch
 *     narrows the inputs that stay on the path.
 *
 * The real functions are reached through `real.c`, which is compiled by plain clang: a call of
 * `strlen` written here would be turned into a call of its model.
 */
#ifndef NM_MODEL_H
#define NM_MODEL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
/* glibc's headers replace these functions by macros and inline functions otherwise. */
#define __NO_CTYPE 1

#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <wchar.h>

#define NM_MODEL(name) __nm_model_##name

/* What the runtime knows about memory and lengths (crates/rt/src/models/support.rs). Arguments
 * keep their labels: pass a symbolic size as it is. A check is made in the name of the
 * program's own call of the model, and costs nothing where nothing is symbolic.
 *
 * An input string has a symbolic length: the zero byte behind it is an *open end*, and keeps
 * that label wherever the string is copied. A model that meets one takes the length from
 * `__nm_open_length` instead of walking over the bytes, which would tie the path to the
 * length that the input has in this run. */

/* What a stream has read ahead of the program (crates/rt/src/streams.rs). */
struct nm_ahead {
    unsigned long read, end, base, available;
};
/* Whether what is scanned of this stream must be read byte by byte, to be captured. */
bool __nm_scans_stdin(FILE *stream);
/* Around what libc scans in its own way. */
void __nm_before_scan(FILE *stream, struct nm_ahead *known);
void __nm_after_scan(FILE *stream, const struct nm_ahead *known);

/* Holds for this run, and for what is asked about others; no decision (crates/rt/src/harness.rs). */
void nearmiss_assume(bool condition);

/* Bytes are about to be written to a stream, or to a descriptor: the program may read them again. That their
 * number is symbolic is lost then. */
void __nm_leaves(FILE *stream, const void *start, size_t size);
void __nm_leaves_to(int fd, const void *start, size_t size);
/* Whether the labels of what is printed to a descriptor must be known; that of a stream. */
bool __nm_keeps(int fd);
int __nm_descriptor(FILE *stream);

/* size bytes are about to be read or written: are they inside their object, for all inputs? */
void __nm_reads(const void *start, size_t size);
void __nm_writes(const void *start, size_t size);
/* A string is about to be read to its end: is there one inside its object, for all inputs? */
void __nm_terminated(const char *start);
/* Whether the zero byte at `end` is an open end. */
bool __nm_has_open_end(const char *end);
/* The length of a string that has an open end, `length` in this run. */
size_t __nm_open_length(const char *start, size_t length);
/* The zero byte at `end` ends a string of `length` bytes, which may be symbolic. */
void __nm_end_string(char *end, size_t length);
/* The labels of `size` bytes (as many as in this run) go where the bytes went. */
void __nm_move_labels(void *to, const void *from, size_t size);
/* `size` bytes became part of the environment. */
void __nm_in_environment(const char *text, size_t size);
/* From here on the value is what it is in this run; lengths of inputs stay symbolic. Returned
 * without its label. */
size_t __nm_settle(size_t value);
void *__nm_settle_pointer(const void *pointer);
/* Whether an address depends on lengths of inputs, and on nothing else. */
bool __nm_moves(const void *pointer);
/* What is false in this run; an input for which it holds takes the other way at the next decision, and at several
 * more: it is tried at once. No part of the path. */
void __nm_hint(bool condition);
void __nm_words(const char *a, size_t a_length, const char *b, size_t b_length);
/* The value of this run, without its label; nothing is fixed. */
size_t __nm_recorded(size_t value);
const void *__nm_recorded_pointer(const void *pointer);
/* These bytes became a floating-point number, which is concrete: they keep their values. */
void __nm_read_as_float(const void *start, size_t size);
/* libc is about to read from `start` on in a way that no model knows: a note, if that is symbolic. */
void __nm_unfollowed(const void *start);
/* How many bytes there are, in this run, from `start` to the end of its object; 0: unknown. */
size_t __nm_room(const void *start);
/* Whether the newline at `byte` ends a line of symbolic length: it moves with that length, and
 * no byte before it in the line is one. */
bool __nm_ends_line(const char *byte);
/* The length of a word that was read from a stream, `count` bytes in this run: it ends with the
 * input, or before a byte that does not belong to it. */
size_t __nm_word_length(const char *word, size_t count, bool at_end);
/* These bytes are concrete from now on: a hook of the runtime's. */
void __nm_clear(unsigned long start, unsigned long size);

/* Whether all paths of a function are explored: see steps.c. */
bool __nm_explores(void);

/* A library function allocated size bytes (which may be symbolic), as malloc would. */
void __nm_adopt(void *memory, size_t size);

/* A model that takes its arguments one by one, behind `last`, by its relative that takes a list. */
#define NM_VARIADIC(last, name, list_name, parameters, ...)                                    \
    int NM_MODEL(name) parameters                                                              \
    {                                                                                          \
        va_list list;                                                                          \
        va_start(list, last);                                                                  \
        int result = NM_MODEL(list_name)(__VA_ARGS__, list);                                   \
        va_end(list);                                                                          \
        return result;                                                                         \
    }

/* Models are part of the program or library that they are linked into. */
#pragma GCC visibility push(hidden)

/* The runtime's words: see `abi::shadow`. A mask of 0 says that nothing is recorded. */
struct nm_summary_words {
    const unsigned char *base;
    unsigned long mask;
    unsigned calm;
    unsigned reserved;
};
extern struct nm_summary_words __nm_summary;

static inline bool nm_records(void)
{
    return __builtin_expect(__nm_summary.mask != 0, 0);
}

/* Whether no byte of a range has a label (it may say no where the answer is yes). */
bool __nm_is_concrete(const void *start, size_t size);

/* Whether the value of an argument has no label: a copy in memory has the value's labels once
 * the call below, which ends the region, is reached. */
#define nm_value_is_concrete(value)                                                            \
    __extension__({                                                                            \
        __typeof__(value) nm_copy = (value);                                                   \
        __nm_is_concrete(&nm_copy, sizeof nm_copy);                                            \
    })

/* Whether the current locale's character classes and letter cases are ASCII's, with nothing
 * beyond 127: so in the C locale and in those of UTF-8. */
bool __nm_ctype_is_ascii(void);
/* Whether another locale's are. */
bool __nm_locale_is_ascii(locale_t locale);
/* Whether strings are ordered by their bytes: so in the C locale and in C.UTF-8. */
bool __nm_collates_bytes(void);

/* One branch, not two. */
static inline bool nm_is_space(int c)
{
    return (c == ' ') | ((unsigned)c - '\t' < 5);
}

static inline int nm_is_upper(int c)
{
    return (unsigned)c - 'A' < 26;
}

static inline int nm_is_lower(int c)
{
    return (unsigned)c - 'a' < 26;
}

static inline int nm_is_digit(int c)
{
    return (unsigned)c - '0' < 10;
}

/* Without a branch: case is bit 5 of an ASCII letter. */
static inline int nm_to_lower(int c)
{
    return c | nm_is_upper(c) << 5;
}

/* The value of a digit in bases up to 36, or 36: without a branch, as the path need not know
 * whether a digit is a letter. */
static inline unsigned nm_digit_value(int c)
{
    unsigned decimal = (unsigned)c - '0';
    unsigned letter = ((unsigned)c | 32) - 'a';
    unsigned is_decimal = decimal < 10, is_letter = letter < 26;
    unsigned is_neither = 1 - (is_decimal | is_letter);
    return (decimal & -is_decimal) | ((letter + 10) & -is_letter) | (36 & -is_neither);
}

/* A number on its way from digits to a value: shared by strtol and scanf. */
struct nm_number {
    unsigned long long value;
    bool overflows;
};

static inline void nm_add_digit(struct nm_number *number, unsigned base, unsigned digit, int seen)
{
    /* Twelve digits of any base fit into 64 bits: no test, hence no branch on the path. */
    if (seen < 12) {
        number->value = number->value * base + digit;
        return;
    }
    number->overflows |= __builtin_mul_overflow(number->value, base, &number->value);
    number->overflows |= __builtin_add_overflow(number->value, digit, &number->value);
}

/* What strtol, or strtoul, makes of a sign and a magnitude; sets errno on overflow. */
unsigned long long __nm_finish_number(const struct nm_number *number, bool negative, bool is_signed);

/* How many bytes strncmp looks at: up to the first difference, end or limit, including it. */
size_t __nm_bytes_compared(const char *a, const char *b, size_t limit);
/* How many bytes from the beginning are equal in this run, or but for their case. */
size_t __nm_bytes_equal(const char *a, const char *b, size_t limit, bool folded);

size_t NM_MODEL(strlen)(const char *s);
int NM_MODEL(vasprintf)(char **buffer, const char *text, va_list list);
void NM_MODEL(free)(void *memory);
size_t NM_MODEL(strnlen)(const char *s, size_t n);

/* The real functions. */
size_t __nm_real_strlen(const char *s);
size_t __nm_real_strnlen(const char *s, size_t n);
int __nm_real_strcmp(const char *a, const char *b);
int __nm_real_strncmp(const char *a, const char *b, size_t n);
int __nm_real_strcoll(const char *a, const char *b);
int __nm_real_strcasecmp(const char *a, const char *b);
int __nm_real_strncasecmp(const char *a, const char *b, size_t n);
int __nm_real_strcasecmp_l(const char *a, const char *b, locale_t locale);
int __nm_real_strncasecmp_l(const char *a, const char *b, size_t n, locale_t locale);
int __nm_real_memcmp(const void *a, const void *b, size_t n);
char *__nm_real_strchr(const char *s, int c);
char *__nm_real_strrchr(const char *s, int c);
char *__nm_real_strchrnul(const char *s, int c);
void *__nm_real_memchr(const void *s, int c, size_t n);
void *__nm_real_memrchr(const void *s, int c, size_t n);
void *__nm_real_rawmemchr(const void *s, int c);
char *__nm_real_strstr(const char *haystack, const char *needle);
char *__nm_real_strcasestr(const char *haystack, const char *needle);
void *__nm_real_memmem(const void *haystack, size_t count, const void *needle, size_t size);
size_t __nm_real_strspn(const char *s, const char *set);
size_t __nm_real_strcspn(const char *s, const char *set);
char *__nm_real_strpbrk(const char *s, const char *set);
char *__nm_real_strtok_r(char *s, const char *delimiters, char **save);
char *__nm_real_strsep(char **rest, const char *delimiters);
char *__nm_real_basename(const char *path);
char *__nm_real___xpg_basename(char *path);
void *__nm_real_memmove(void *to, const void *from, size_t n);
void *__nm_real_memset(void *to, int c, size_t n);
void *__nm_real_memccpy(void *to, const void *from, int c, size_t n);
void __nm_real_swab(const void *from, void *to, ssize_t n);
char *__nm_real_strcpy(char *to, const char *from);
char *__nm_real_strncpy(char *to, const char *from, size_t n);
char *__nm_real_strcat(char *to, const char *from);
char *__nm_real_strncat(char *to, const char *from, size_t n);
char *__nm_real_stpcpy(char *to, const char *from);
char *__nm_real_stpncpy(char *to, const char *from, size_t n);
size_t __nm_real_strxfrm(char *to, const char *from, size_t n);
char *__nm_real___strcpy_chk(char *to, const char *from, size_t room);
char *__nm_real___stpcpy_chk(char *to, const char *from, size_t room);
char *__nm_real___strncpy_chk(char *to, const char *from, size_t n, size_t room);
char *__nm_real___stpncpy_chk(char *to, const char *from, size_t n, size_t room);
char *__nm_real___strcat_chk(char *to, const char *from, size_t room);
char *__nm_real___strncat_chk(char *to, const char *from, size_t n, size_t room);
char *__nm_real_strdup(const char *s);
char *__nm_real_strndup(const char *s, size_t n);
int __nm_real_isalpha(int c);
int __nm_real_isalpha_l(int c, locale_t locale);
int __nm_real_isdigit(int c);
int __nm_real_isdigit_l(int c, locale_t locale);
int __nm_real_isalnum(int c);
int __nm_real_isalnum_l(int c, locale_t locale);
int __nm_real_isspace(int c);
int __nm_real_isspace_l(int c, locale_t locale);
int __nm_real_isupper(int c);
int __nm_real_isupper_l(int c, locale_t locale);
int __nm_real_islower(int c);
int __nm_real_islower_l(int c, locale_t locale);
int __nm_real_ispunct(int c);
int __nm_real_ispunct_l(int c, locale_t locale);
int __nm_real_isprint(int c);
int __nm_real_isprint_l(int c, locale_t locale);
int __nm_real_isxdigit(int c);
int __nm_real_isxdigit_l(int c, locale_t locale);
int __nm_real_iscntrl(int c);
int __nm_real_iscntrl_l(int c, locale_t locale);
int __nm_real_isgraph(int c);
int __nm_real_isgraph_l(int c, locale_t locale);
int __nm_real_isblank(int c);
int __nm_real_isblank_l(int c, locale_t locale);
int __nm_real_tolower(int c);
int __nm_real_tolower_l(int c, locale_t locale);
int __nm_real_toupper(int c);
int __nm_real_toupper_l(int c, locale_t locale);
long __nm_real_strtol(const char *s, char **end, int base);
unsigned long __nm_real_strtoul(const char *s, char **end, int base);
float __nm_real_strtof(const char *s, char **end);
double __nm_real_strtod(const char *s, char **end);
long double __nm_real_strtold(const char *s, char **end);
void __nm_real_qsort(void *base, size_t count, size_t size,
                     int (*compare)(const void *, const void *));
void __nm_real_qsort_r(void *base, size_t count, size_t size,
                       int (*compare)(const void *, const void *, void *), void *context);
/* Copies and frees. */
void __nm_real_move(void *to, void *from, size_t size);
int __nm_real_put_count(char *to, const char *before, int count);
int __nm_real_vsprintf(char *buffer, const char *text, va_list list);
int __nm_real_vsnprintf(char *buffer, size_t room, const char *text, va_list list);
int __nm_real_vasprintf(char **buffer, const char *text, va_list list);
int __nm_real_vsprintf_chk(char *buffer, int flag, size_t object, const char *text, va_list list);
int __nm_real_vsnprintf_chk(char *buffer, size_t room, int flag, size_t object, const char *text,
                            va_list list);
int __nm_real_vasprintf_chk(char **buffer, int flag, const char *text, va_list list);
int __nm_real_vprintf(const char *text, va_list list);
int __nm_real_vfprintf(FILE *stream, const char *text, va_list list);
int __nm_real_vdprintf(int fd, const char *text, va_list list);
int __nm_real___vprintf_chk(int flag, const char *text, va_list list);
int __nm_real___vfprintf_chk(FILE *stream, int flag, const char *text, va_list list);
int __nm_real___vdprintf_chk(int fd, int flag, const char *text, va_list list);
int __nm_real_puts(const char *s);
int __nm_real_fputs(const char *s, FILE *stream);
int __nm_real_fputs_unlocked(const char *s, FILE *stream);
size_t __nm_real_fwrite(const void *start, size_t size, size_t count, FILE *stream);
size_t __nm_real_fwrite_unlocked(const void *start, size_t size, size_t count, FILE *stream);
ssize_t __nm_real_write(int fd, const void *start, size_t size);
char *__nm_real_getenv(const char *name);
struct option;
int __nm_real_getopt(int count, char *const *arguments, const char *options);
int __nm_real___posix_getopt(int count, char *const *arguments, const char *options);
int __nm_real_getopt_long(int count, char *const *arguments, const char *options,
                          const struct option *names, int *name);
int __nm_real_getopt_long_only(int count, char *const *arguments, const char *options,
                               const struct option *names, int *name);
int __nm_real_mbsinit(const mbstate_t *state);
size_t __nm_real_mbrtowc(wchar_t *to, const char *s, size_t n, mbstate_t *state);
size_t __nm_real_mbrlen(const char *s, size_t n, mbstate_t *state);
size_t __nm_real_wcrtomb(char *to, wchar_t c, mbstate_t *state);
int __nm_real_mbtowc(wchar_t *to, const char *s, size_t n);
int __nm_real_mblen(const char *s, size_t n);
wint_t __nm_real_btowc(int c);
int __nm_real_wctob(wint_t c);
size_t __nm_real_wcslen(const wchar_t *s);
wchar_t *__nm_real_wcscpy(wchar_t *to, const wchar_t *from);
wchar_t *__nm_real_wcscat(wchar_t *to, const wchar_t *from);
int __nm_real_wcwidth(wchar_t c);
wint_t __nm_real_towlower(wint_t c);
wint_t __nm_real_towupper(wint_t c);
int __nm_real_iswalnum(wint_t c);
int __nm_real_iswalpha(wint_t c);
int __nm_real_iswblank(wint_t c);
int __nm_real_iswcntrl(wint_t c);
int __nm_real_iswdigit(wint_t c);
int __nm_real_iswgraph(wint_t c);
int __nm_real_iswlower(wint_t c);
int __nm_real_iswprint(wint_t c);
int __nm_real_iswpunct(wint_t c);
int __nm_real_iswspace(wint_t c);
int __nm_real_iswupper(wint_t c);
int __nm_real_iswxdigit(wint_t c);
/* Reads one float of a size (0 float, 1 double, 2 long double), as scanf does; `used` bytes. */
int __nm_real_scan_float(const char *text, int width, int size, long double *value, int *used);
int __nm_real_vsscanf(const char *s, const char *format, va_list list);
int __nm_real_vfscanf(FILE *stream, const char *format, va_list list);
int __nm_real_isoc99_vsscanf(const char *s, const char *format, va_list list);
int __nm_real_isoc99_vfscanf(FILE *stream, const char *format, va_list list);

#pragma GCC visibility pop

#endif
