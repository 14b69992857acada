/* Models of <stdio.h>: formatted input.
 *
 * The conversions d i u x X o c s n [ and %, with widths, suppression and the integer length
 * modifiers, are done here, as glibc does them: its order of reads and push-backs, its answer
 * at the end of input, its idea of "0x" without a digit. A float in a string is libc's work, one
 * at a time. A format with anything else (floats in a stream, wide characters, positions,
 * allocation) is given to libc as a whole; what it stores is concrete. From a stream we read with
 * `getc` and `ungetc`, whose models are the runtime's.
 *
 * A word that ends where a string of symbolic length does is as long as that, and a word of a
 * stream has a length of its own: whether its destination is large enough is asked for every length.
 */
#include "model.h"
#include "text.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/* Where characters come from. */
struct source {
    FILE *stream;               /* NULL: a string */
    const unsigned char *next;  /* of the string */
    int last;                   /* the last character; EOF stays */
    int errno_at_end;           /* what glibc makes errno again at each read beyond the end */
    size_t consumed;            /* for %n */
};

static int take(struct source *source)
{
    if (source->last == EOF) {
        errno = source->errno_at_end;
        return EOF;
    }
    int c;
    if (source->stream != NULL)
        c = getc(source->stream);
    else if (*source->next == 0)
        c = EOF;
    else
        c = *source->next++;
    if (c == EOF)
        source->errno_at_end = errno;
    else
        source->consumed++;
    source->last = c;
    return c;
}

/* As `take` from a stream, without a branch on what comes: the character of this run, or EOF. */
static int take_recorded(struct source *source)
{
    int c = getc(source->stream);
    int recorded = (int)__nm_recorded((unsigned)c);
    if (recorded == EOF)
        source->errno_at_end = errno;
    else
        source->consumed++;
    source->last = c;
    return recorded;
}

/* Gives the last character back; at the end there is nothing to give back. */
static void give_back(struct source *source)
{
    if (source->last == EOF)
        return;
    source->consumed--;
    if (source->stream != NULL)
        ungetc(source->last, source->stream);
    else
        source->next--;
}

enum length { LENGTH_CHAR, LENGTH_SHORT, LENGTH_INT, LENGTH_LONG };

/* One conversion of a format. */
struct conversion {
    bool suppress;
    int width;          /* -1: none */
    enum length length;
    char letter;        /* 0: one that is not done here */
    bool is_long_double;
    const char *set;    /* of a [ conversion: what follows the [ and a ^ */
    bool negated;
};

/* The end of a set: behind its ], or NULL. A ] at its start is a member. */
static const char *end_of_set(const char *set)
{
    if (*set == ']')
        set++;
    while (*set != 0 && *set != ']')
        set++;
    return *set == ']' ? set + 1 : NULL;
}

/* Reads the conversion behind a % and returns what follows it. */
static const char *read_conversion(const char *format, struct conversion *conversion)
{
    *conversion = (struct conversion){.width = -1, .length = LENGTH_INT};
    if (*format == '*') {
        conversion->suppress = true;
        format++;
    }
    int width = 0;
    for (; nm_is_digit(*format); format++) {
        if (width > 100000)
            return format;
        width = width * 10 + (*format - '0');
    }
    if (width != 0)
        conversion->width = width;
    switch (*format) {
    case 'h':
        format++;
        conversion->length = LENGTH_SHORT;
        if (*format == 'h') {
            format++;
            conversion->length = LENGTH_CHAR;
        }
        break;
    case 'l':
        format++;
        conversion->length = LENGTH_LONG;
        if (*format == 'l')
            format++;
        break;
    case 'q': case 'L': case 'j': case 'z': case 't':
        conversion->is_long_double = *format == 'L';
        format++;
        conversion->length = LENGTH_LONG;
        break;
    }
    switch (*format) {
    case 'd': case 'i': case 'u': case 'x': case 'X': case 'o': case 'n': case '%':
        conversion->letter = *format++;
        return format;
    case 'e': case 'E': case 'f': case 'F': case 'g': case 'G':
        conversion->letter = 'f';
        return format + 1;
    case 'c': case 's': case '[':
        /* With l they are wide. */
        if (conversion->length == LENGTH_LONG)
            return format;
        conversion->letter = *format++;
        break;
    default:
        return format;
    }
    if (conversion->letter == '[') {
        if (*format == '^') {
            conversion->negated = true;
            format++;
        }
        conversion->set = format;
        const char *end = end_of_set(format);
        if (end == NULL) {
            conversion->letter = 0;
            return format;
        }
        return end;
    }
    return format;
}

/* Whether every conversion of a format is done here, for a string or for a stream. */
static bool is_supported(const char *format, bool is_stream)
{
    while (*format != 0) {
        /* Outside ASCII a format is multibyte text. */
        if (*format & 0x80)
            return false;
        if (*format++ != '%')
            continue;
        struct conversion conversion;
        format = read_conversion(format, &conversion);
        if (conversion.letter == 0 || (conversion.letter == 'f' && is_stream))
            return false;
    }
    return true;
}

/* Whether `c` is in the set that starts at `set`, with one branch less for each member. */
static bool set_has(const char *set, int c)
{
    const unsigned char *s = (const unsigned char *)set;
    int has = 0;
    /* A ] or - at the start stands for itself. */
    const unsigned char *first = s;
    if (*s == ']' || *s == '-') {
        has |= c == *s;
        s++;
    }
    for (; *s != 0 && *s != ']'; s++) {
        if (*s == '-' && s != first && s[1] != 0 && s[1] != ']' && s[-1] <= s[1])
            /* The end of the range is a member of its own. */
            has |= (c >= s[-1]) & (c < s[1]);
        else
            has |= c == *s;
    }
    return has != 0;
}

static void store_integer(void *to, enum length length, unsigned long long value)
{
    switch (length) {
    case LENGTH_CHAR:
        *(unsigned char *)to = (unsigned char)value;
        break;
    case LENGTH_SHORT:
        *(unsigned short *)to = (unsigned short)value;
        break;
    case LENGTH_INT:
        *(unsigned *)to = (unsigned)value;
        break;
    case LENGTH_LONG:
        *(unsigned long long *)to = value;
        break;
    }
}

/* How a conversion ended. */
enum outcome { MATCHED, MISMATCHED, NO_INPUT };

static enum outcome scan_integer(struct source *source, const struct conversion *conversion, void *to)
{
    char letter = conversion->letter;
    unsigned base = letter == 'i' ? 0 : letter == 'o' ? 8 : letter == 'x' || letter == 'X' ? 16 : 10;
    int width = conversion->width;
    int c = take(source);
    if (c == EOF)
        return NO_INPUT;
    bool negative = c == '-';
    if (negative || c == '+') {
        width -= width > 0;
        c = take(source);
    }
    int digits = 0;
    /* Elsewhere a zero is a digit like any other: to look for it would part the path of 0 from that of 7. */
    if ((base == 0 || base == 16) && width != 0 && c == '0') {
        width -= width > 0;
        digits++;
        c = take(source);
        if (width != 0 && (c == 'x' || c == 'X')) {
            /* glibc keeps the zero as the number if no digit follows the x. */
            base = 16;
            width -= width > 0;
            c = take(source);
        } else if (base == 0) {
            base = 8;
        }
    }
    if (base == 0)
        base = 10;
    struct nm_number number = {0, false};
    int significant = 0;
    while (c != EOF && width != 0) {
        unsigned digit = base <= 10 ? (unsigned)c - '0' : nm_digit_value(c);
        if (digit >= base)
            break;
        nm_add_digit(&number, base, digit, significant++);
        width -= width > 0;
        c = take(source);
    }
    digits += significant;
    give_back(source);
    if (digits == 0)
        return MISMATCHED;
    bool is_signed = letter == 'd' || letter == 'i';
    unsigned long long value = __nm_finish_number(&number, negative, is_signed);
    if (!conversion->suppress)
        store_integer(to, conversion->length, value);
    return MATCHED;
}

/* %c of a string: its end is found without a branch if that is an open one. */
static enum outcome scan_characters_of_text(struct source *source, const struct conversion *conversion, char *to)
{
    size_t width = conversion->width == -1 ? 1 : (size_t)conversion->width;
    if (take(source) == EOF)
        return NO_INPUT;
    const char *text = (const char *)source->next - 1;
    size_t count = 1;
    while (count < width && !nm_is_end(text + count))
        count++;
    size_t length = count;
    if (count < width && __nm_has_open_end(text + count))
        length = nm_smaller(__nm_open_length(text, count), width);
    if (!conversion->suppress) {
        __nm_writes(to, length);
        memcpy(to, text, count);
    }
    source->next += count - 1;
    source->consumed += count - 1;
    /* As glibc: the end was looked at. */
    if (count < width)
        take(source);
    return MATCHED;
}

static enum outcome scan_characters(struct source *source, const struct conversion *conversion, char *to)
{
    if (source->stream == NULL)
        return scan_characters_of_text(source, conversion, to);
    size_t width = conversion->width == -1 ? 1 : (size_t)conversion->width;
    if (take(source) == EOF)
        return NO_INPUT;
    size_t count = 0;
    do {
        if (!conversion->suppress)
            to[count] = (char)source->last;
        count++;
    } while (count < width && take_recorded(source) != EOF);
    if (!conversion->suppress) {
        size_t length = count < width ? __nm_word_length(to, count, true) : count;
        __nm_writes(to, nm_smaller(length, width));
    }
    return MATCHED;
}

static bool belongs(const struct conversion *conversion, int c)
{
    if (conversion->letter == 's')
        return !nm_is_space(c);
    return set_has(conversion->set, c) != conversion->negated;
}

/* The length of a word of `count` bytes at `word`, in this run, if it ends where a string or line
 * of symbolic length does; else 0. */
static size_t open_length_of_word(const char *word, size_t count)
{
    const char *end = word + count;
    if (nm_is_end(end))
        return __nm_has_open_end(end) ? __nm_open_length(word, count) : 0;
    if (__nm_ends_line(end) && nm_is_end(end + 1) && __nm_has_open_end(end + 1))
        return __nm_open_length(word, count + 1) - 1;
    return 0;
}

/* %s and %[ of a word whose length is symbolic: no branch on its end. False: it is another. */
static bool scan_open_word(struct source *source, const struct conversion *conversion, char *to)
{
    if (source->stream != NULL || source->last == EOF)
        return false;
    const char *word = (const char *)source->next;
    size_t limit = conversion->width == -1 ? SIZE_MAX : (size_t)conversion->width;
    size_t count = 0;
    while (count < limit && !nm_is_end(word + count)
           && belongs(conversion, (int)__nm_recorded((unsigned char)word[count])))
        count++;
    if (count == 0 || count == limit)
        return false;
    size_t length = open_length_of_word(word, count);
    if (__nm_recorded(length) != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!belongs(conversion, (unsigned char)word[i]))
            return false;
    length = nm_smaller(length, limit);
    if (!conversion->suppress) {
        __nm_writes(to, length + 1);
        memcpy(to, word, count);
        to[count] = 0;
        __nm_end_string(to + count, length);
    }
    source->next += count;
    source->consumed += length;
    return true;
}

/* The room of a word of `count` bytes at `to` that was read from a stream. */
static void check_word(const struct source *source, const struct conversion *conversion, char *to,
                       size_t count)
{
    size_t limit = conversion->width == -1 ? SIZE_MAX : (size_t)conversion->width;
    bool at_end = (int)__nm_recorded((unsigned)source->last) == EOF;
    size_t length = count < limit ? __nm_word_length(to, count, at_end) : count;
    length = nm_smaller(length, limit);
    __nm_writes(to, length + 1);
    to[count] = 0;
    __nm_end_string(to + count, length);
}

/* %s and %[ of a stream. Its end is looked at after its room: for each length there is an input. */
static enum outcome scan_word(struct source *source, const struct conversion *conversion, char *to)
{
    size_t limit = conversion->width == -1 ? INT_MAX : (size_t)conversion->width;
    size_t count = 0;
    int recorded = EOF;
    if (take(source) == EOF)
        return NO_INPUT;
    if (!belongs(conversion, source->last)) {
        give_back(source);
        return MISMATCHED;
    }
    do {
        if (!conversion->suppress)
            to[count] = (char)source->last;
        if (++count == limit)
            break;
        recorded = take_recorded(source);
    } while (recorded != EOF && belongs(conversion, recorded) && belongs(conversion, source->last));
    if (!conversion->suppress)
        check_word(source, conversion, to, count);
    if (count == limit || recorded == EOF)
        return MATCHED;
    /* What stands behind a word moves with its end: to decide on it would say how long the word is. */
    nearmiss_assume(!belongs(conversion, source->last));
    give_back(source);
    return MATCHED;
}

/* %s and %[: whether a character belongs is all that differs. */
static enum outcome scan_string(struct source *source, const struct conversion *conversion, char *to)
{
    if (source->stream != NULL)
        return scan_word(source, conversion, to);
    if (scan_open_word(source, conversion, to))
        return MATCHED;
    int width = conversion->width == -1 ? INT_MAX : conversion->width;
    size_t before = source->consumed;
    if (take(source) == EOF)
        return NO_INPUT;
    do {
        int c = source->last;
        if (!belongs(conversion, c)) {
            give_back(source);
            break;
        }
        if (!conversion->suppress)
            *to++ = (char)c;
    } while (--width > 0 && take(source) != EOF);
    if (source->consumed == before)
        return MISMATCHED;
    if (!conversion->suppress)
        *to = 0;
    return MATCHED;
}

/* A float in a string: libc reads it, and the bytes it was made of stay what they are. */
static enum outcome scan_float(struct source *source, const struct conversion *conversion, void *to)
{
    const char *text = (const char *)source->next;
    int width = conversion->width, size = conversion->length == LENGTH_LONG;
    int used = 0;
    if (source->last == EOF || nm_is_end(text))
        return take(source) == EOF ? NO_INPUT : MISMATCHED;
    long double value;
    int matched = __nm_real_scan_float(text, width, conversion->is_long_double ? 2 : size, &value, &used);
    size_t looked_at = used > 0 ? (size_t)used + !nm_is_end(text + used) : __nm_real_strlen(text);
    __nm_read_as_float(text, looked_at);
    if (matched != 1)
        return matched == EOF ? NO_INPUT : MISMATCHED;
    source->next += used;
    source->consumed += (size_t)used;
    if (conversion->suppress)
        return MATCHED;
    if (conversion->is_long_double)
        *(long double *)to = value;
    else if (size)
        *(double *)to = (double)value;
    else
        *(float *)to = (float)value;
    return MATCHED;
}

static enum outcome scan_percent(struct source *source)
{
    int c = take(source);
    if (c == EOF)
        return NO_INPUT;
    if (c == '%')
        return MATCHED;
    give_back(source);
    return MISMATCHED;
}

/* A character of the format that stands for itself. */
static enum outcome scan_literal(struct source *source, char literal, bool skip_space)
{
    int c = take(source);
    while (skip_space && c != EOF && nm_is_space(c))
        c = take(source);
    if (c == EOF)
        return NO_INPUT;
    if (c == (unsigned char)literal)
        return MATCHED;
    give_back(source);
    return MISMATCHED;
}

static void skip_white_space(struct source *source)
{
    while (nm_is_space(take(source)))
        ;
    give_back(source);
}

static enum outcome scan_conversion(struct source *source, const struct conversion *conversion, void *to)
{
    switch (conversion->letter) {
    case '%':
        return scan_percent(source);
    case 'n':
        if (!conversion->suppress)
            store_integer(to, conversion->length, source->consumed);
        return MATCHED;
    case 'c':
        return scan_characters(source, conversion, to);
    case 's':
    case '[':
        return scan_string(source, conversion, to);
    case 'f':
        return scan_float(source, conversion, to);
    default:
        return scan_integer(source, conversion, to);
    }
}

static int scan(struct source *source, const char *format, va_list list)
{
    int assigned = 0;
    bool skip_space = false;
    while (*format != 0) {
        char c = *format++;
        enum outcome outcome;
        if (c != '%') {
            if (nm_is_space(c)) {
                skip_space = true;
                continue;
            }
            outcome = scan_literal(source, c, skip_space);
            skip_space = false;
        } else {
            struct conversion conversion;
            format = read_conversion(format, &conversion);
            char letter = conversion.letter;
            if (skip_space || (letter != '[' && letter != 'c' && letter != 'n')) {
                int saved = errno;
                skip_white_space(source);
                errno = saved;
            }
            skip_space = false;
            bool stores = letter != '%' && !conversion.suppress;
            outcome = scan_conversion(source, &conversion, stores ? va_arg(list, void *) : NULL);
            assigned += outcome == MATCHED && stores && letter != 'n';
        }
        if (outcome == NO_INPUT)
            return assigned != 0 ? assigned : EOF;
        if (outcome == MISMATCHED)
            return assigned;
    }
    if (skip_space)
        skip_white_space(source);
    return assigned;
}

static bool is_done_here(const char *format, FILE *stream)
{
    if (!nm_records() && (stream == NULL || !__nm_scans_stdin(stream)))
        return false;
    /* White space is what the locale says it is. */
    return __nm_ctype_is_ascii() && is_supported(format, stream != NULL);
}

static int scan_text(const char *text, const char *format, va_list list)
{
    struct source source = {.next = (const unsigned char *)text};
    return scan(&source, format, list);
}

static int scan_stream(FILE *stream, const char *format, va_list list)
{
    struct source source = {.stream = stream};
    flockfile(stream);
    int assigned = scan(&source, format, list);
    funlockfile(stream);
    return assigned;
}

/* libc scans a text: what it makes of it is concrete. */
static int scan_text_elsewhere(int (*real)(const char *, const char *, va_list), const char *text,
                               const char *format, va_list list)
{
    if (nm_records())
        __nm_unfollowed(text);
    return real(text, format, list);
}

/* libc scans a stream: only its buffer tells what it read. */
static int scan_elsewhere(int (*real)(FILE *, const char *, va_list), FILE *stream,
                          const char *format, va_list list)
{
    struct nm_ahead before;
    __nm_before_scan(stream, &before);
    int assigned = real(stream, format, list);
    __nm_after_scan(stream, &before);
    return assigned;
}

/* The headers rename `sscanf` to the C99 function; a model's name is what the linker sees. */
#define SCANF_MODELS(prefix, real_vsscanf, real_vfscanf)                                       \
    int NM_MODEL(prefix##vsscanf)(const char *text, const char *format, va_list list)          \
    {                                                                                          \
        return is_done_here(format, NULL)                                                      \
                   ? scan_text(text, format, list)                                             \
                   : scan_text_elsewhere(real_vsscanf, text, format, list);                    \
    }                                                                                          \
    int NM_MODEL(prefix##vfscanf)(FILE *stream, const char *format, va_list list)              \
    {                                                                                          \
        return is_done_here(format, stream)                                                    \
                   ? scan_stream(stream, format, list)                                         \
                   : scan_elsewhere(real_vfscanf, stream, format, list);                       \
    }                                                                                          \
    int NM_MODEL(prefix##vscanf)(const char *format, va_list list)                             \
    {                                                                                          \
        return NM_MODEL(prefix##vfscanf)(stdin, format, list);                                 \
    }                                                                                          \
    NM_VARIADIC(format, prefix##sscanf, prefix##vsscanf, (const char *text, const char *format, ...),     \
             text, format)                                                                     \
    NM_VARIADIC(format, prefix##fscanf, prefix##vfscanf, (FILE *stream, const char *format, ...),         \
             stream, format)                                                                   \
    NM_VARIADIC(format, prefix##scanf, prefix##vscanf, (const char *format, ...), format)

#undef sscanf
#undef fscanf
#undef scanf
#undef vsscanf
#undef vfscanf
#undef vscanf

SCANF_MODELS(, __nm_real_vsscanf, __nm_real_vfscanf)
SCANF_MODELS(__isoc99_, __nm_real_isoc99_vsscanf, __nm_real_isoc99_vfscanf)
