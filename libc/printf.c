/* Models of <stdio.h>: printing into buffers.
 *
 * The real function makes the bytes. Before it runs, the length of what it will write is put
 * together from the arguments without a branch on their values: how many digits a number has
 * is a sum of comparisons, how long a string is comes from the model of strlen. So a buffer that
 * is too small for some other number or name is found although this run's fits. Afterwards the
 * bytes get the labels of what they show, where they are in this run.
 *
 * Floats, wide characters, pointers and grouped digits are concrete; a format that is not
 * understood is libc's alone.
 */
#include "format.h"
#include "text.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/* What a conversion prints: symbolic lengths, and where it is in this run. */
struct field {
    size_t length;              /* with padding */
    size_t body;                /* without */
    size_t digits;              /* of an integer, in this run */
    size_t at;                  /* in this run, from the start of the buffer */
    unsigned long long value;   /* magnitude of an integer */
    bool left;
};

struct printed {
    struct nm_format format;
    struct field field[NM_MAX_CONVERSIONS];
    size_t length;              /* of it all */
    bool understood;
};

/* A term, where a conditional expression would be a branch. */
static inline size_t larger(size_t a, size_t b)
{
    return __builtin_elementwise_max(a, b);
}

/* More than printf can write. */
#define UNLIMITED ((size_t)1 << 32)

/* `length`, or `limit` if that is smaller; without terms where there is no limit. */
static size_t limited(size_t length, size_t limit)
{
    return __nm_recorded(limit) >= UNLIMITED ? length : nm_smaller(length, limit);
}

/* An integer argument as the size says, as a magnitude and a sign. */
static unsigned long long magnitude_of(const struct nm_conversion *conversion, long long value,
                                       size_t *negative)
{
    bool is_signed = conversion->letter == 'd' || conversion->letter == 'i';
    switch (conversion->size) {
    case 'H': value = is_signed ? (signed char)value : (unsigned char)value; break;
    case 'h': value = is_signed ? (short)value : (unsigned short)value; break;
    case 0: value = is_signed ? (int)value : (long long)(unsigned)value; break;
    }
    *negative = 0;
    if (!is_signed)
        return (unsigned long long)value;
    *negative = value < 0;
    unsigned long long mask = -(unsigned long long)*negative;
    return ((unsigned long long)value ^ mask) - mask;
}

static unsigned base_of(char letter)
{
    switch (letter) {
    case 'x': case 'X': return 16;
    case 'o': return 8;
    default: return 10;
    }
}

/* The largest magnitude of a size: no number has more digits than it. */
static unsigned long long limit_of(char size)
{
    switch (size) {
    case 'H': return UCHAR_MAX;
    case 'h': return USHRT_MAX;
    case 0: return UINT_MAX;
    default: return ULLONG_MAX;
    }
}

/* How many digits, without a branch on the value. */
static size_t count_digits(unsigned long long value, unsigned base, unsigned long long limit)
{
    size_t digits = 1;
    for (unsigned long long power = base;; power *= base) {
        digits += value >= power;
        if (power > limit / base)
            return digits;
    }
}

/* Where all paths are explored, what the layout depends on is decided, as the real function does. */
static size_t decided(size_t value)
{
    if (!__nm_explores())
        return value;
    /* As a variable that the compiler cannot replace by the value. */
    volatile size_t at = 0;
    while (value != at)
        at++;
    return at;
}

static void measure_integer(const struct nm_conversion *conversion, long long value,
                            struct field *field)
{
    size_t negative;
    unsigned long long magnitude = magnitude_of(conversion, value, &negative);
    negative = decided(negative);
    size_t digits = count_digits(magnitude, base_of(conversion->letter), limit_of(conversion->size));
    digits = decided(digits);
    field->value = magnitude;
    field->digits = __nm_recorded(digits);
    size_t is_zero = magnitude == 0;
    if (conversion->precision == 0 || conversion->alternate)
        is_zero = decided(is_zero);
    if (conversion->precision == 0) {
        digits -= is_zero;
        field->digits = __nm_recorded(digits);
    }
    if (conversion->alternate && conversion->letter == 'o')
        digits += (1 - is_zero) | (conversion->precision == 0);
    if (conversion->precision > 0)
        digits = larger(digits, (size_t)conversion->precision);
    size_t prefix = 0;
    if (conversion->alternate && base_of(conversion->letter) == 16)
        prefix = 2 - 2 * is_zero;
    if (conversion->letter == 'd' || conversion->letter == 'i')
        prefix = negative | conversion->plus | conversion->space;
    field->body = prefix + digits;
}

static size_t length_of_string(const char *s, int precision)
{
    if (s == NULL)
        return precision == -1 || precision >= 6 ? 6 : 0;
    return precision == -1 ? NM_MODEL(strlen)(s) : NM_MODEL(strnlen)(s, (size_t)precision);
}

/* What libc makes of the conversion, for those that are not done here. */
static int measure_otherwise(const struct nm_conversion *conversion, enum nm_passed passed,
                             const union nm_value *value)
{
    /* The same conversion without positions and stars. */
    char text[64], *to = text;
    *to++ = '%';
    for (const char *at = conversion->start + 1; at < conversion->end && to < text + 8; at++)
        if (*at == '\'' || *at == 'I')
            *to++ = *at;
    if (conversion->left) *to++ = '-';
    if (conversion->plus) *to++ = '+';
    if (conversion->space) *to++ = ' ';
    if (conversion->alternate) *to++ = '#';
    if (conversion->zero) *to++ = '0';
    to += __nm_real_put_count(to, "", (int)__nm_recorded((size_t)conversion->width));
    to += __nm_real_put_count(to, ".", (int)__nm_recorded((size_t)conversion->precision));
    switch (conversion->size) {
    case 'H': *to++ = 'h'; *to++ = 'h'; break;
    case 0: break;
    default: *to++ = conversion->size; break;
    }
    *to++ = conversion->letter;
    *to = 0;
    return __nm_real_length(text, passed, value);
}

static bool is_done_here(const struct nm_conversion *conversion)
{
    if (conversion->grouped)
        return false;
    switch (conversion->letter) {
    case 'd': case 'i': case 'u': case 'x': case 'X': case 'o':
        return true;
    case 's': case 'c':
        return conversion->size != 'l';
    default:
        return false;
    }
}

/* A width or precision among the arguments: too many values for a decision about each. */
static long long counted(long long value)
{
    return __nm_explores() ? (long long)__nm_settle((size_t)value) : value;
}

/* Width and precision may be arguments; a negative width means left, a negative precision none. */
static void take_counts(struct printed *printed, struct nm_conversion *conversion)
{
    const union nm_value *values = printed->format.value;
    if (conversion->width_argument >= 0) {
        conversion->width = (int)counted(values[conversion->width_argument].integer);
        if (conversion->width < 0) {
            conversion->left = true;
            conversion->width = -(unsigned)conversion->width;
        }
    }
    if (conversion->precision_argument >= 0) {
        conversion->precision = (int)counted(values[conversion->precision_argument].integer);
        if (conversion->precision < 0)
            conversion->precision = -1;
    }
}

/* What libc prints in its own way is concrete: numbers keep their values, wide text is lost. */
static void settle_argument(const struct nm_conversion *conversion, enum nm_passed passed,
                            const union nm_value *value)
{
    if (passed == NM_INT || passed == NM_LONG)
        __nm_settle((size_t)value->integer);
    else if (conversion->letter == 's' || conversion->letter == 'S')
        __nm_unfollowed(value->pointer);
    else if (conversion->letter == 'm')
        __nm_settle((size_t)errno);
}

/* The lengths of one conversion. False: libc will fail, or nobody knows. */
static bool measure(struct printed *printed, int number)
{
    struct nm_conversion *conversion = &printed->format.conversion[number];
    struct field *field = &printed->field[number];
    *field = (struct field){0};
    take_counts(printed, conversion);
    field->left = conversion->left;
    const union nm_value *value = conversion->argument >= 0
        ? &printed->format.value[conversion->argument] : NULL;
    if (conversion->letter == 'n')
        return true;
    if (conversion->letter == '%') {
        field->length = field->body = 1;
        return true;
    }
    if (!is_done_here(conversion)) {
        enum nm_passed passed = value ? printed->format.passed[conversion->argument] : NM_UNUSED;
        settle_argument(conversion, passed, value);
        int length = measure_otherwise(conversion, passed, value);
        field->length = field->body = (size_t)length;
        return length >= 0;
    }
    if (conversion->letter == 's')
        field->body = length_of_string(value->pointer, conversion->precision);
    else if (conversion->letter == 'c')
        field->body = 1;
    else
        measure_integer(conversion, value->integer, field);
    field->length = field->body;
    if (conversion->width > 0)
        field->length = larger(field->body, (size_t)conversion->width);
    return true;
}

/* The length of everything, and where each conversion will be. */
static void account(struct printed *printed, const char *text, va_list list)
{
    int saved = errno;
    struct nm_format *format = &printed->format;
    printed->length = 0;
    printed->understood = __nm_read_format(text, format);
    if (!printed->understood)
        return;
    va_list copy;
    va_copy(copy, list);
    __nm_read_values(format, copy);
    va_end(copy);
    const char *literal = text;
    for (int i = 0; i < format->conversions; i++) {
        printed->length += (size_t)(format->conversion[i].start - literal);
        errno = saved; /* %m shows it */
        if (!measure(printed, i)) {
            printed->understood = false;
            break;
        }
        printed->field[i].at = __nm_recorded(printed->length);
        printed->length += printed->field[i].length;
        literal = format->conversion[i].end;
    }
    printed->length += __nm_real_strlen(__nm_recorded_pointer(literal)); /* of a chosen format */
    errno = saved;
}

static void clear_labels(const char *start, size_t size)
{
    if (size != 0)
        __nm_clear((unsigned long)start, size);
}

/* Gives the byte at `to` the label of `c`, which is what lies there. */
static void label_byte(char *to, char c)
{
    if (*to == (char)__nm_recorded((size_t)c))
        *to = c;
}

/* The last digits of a number, backwards from `end`, as far as they are before `limit`. A number of 32 bits is divided as such:
 * solvers feel the difference. */
static void label_digits(char *end, const char *limit, const struct nm_conversion *conversion,
                         const struct field *field)
{
    unsigned base = base_of(conversion->letter);
    unsigned letters = conversion->letter == 'X' ? 'A' - '9' - 1 : 'a' - '9' - 1;
    bool is_small = limit_of(conversion->size) <= UINT_MAX;
    unsigned long long rest = field->value;
    for (size_t i = 0; i < field->digits; i++) {
        unsigned digit = is_small ? (unsigned)rest % base : (unsigned)(rest % base);
        if (base == 16)
            digit += (digit > 9) * letters;
        if (--end < limit)
            label_byte(end, (char)(digit + '0'));
        rest = is_small ? (unsigned)rest / base : rest / base;
    }
}

/* Labels what one conversion printed, as far as it is before `end`. */
static void label_field(const struct printed *printed, int number, char *buffer, const char *end)
{
    const struct nm_conversion *conversion = &printed->format.conversion[number];
    const struct field *field = &printed->field[number];
    if (!is_done_here(conversion))
        return;
    const union nm_value *value = &printed->format.value[conversion->argument];
    size_t length = __nm_recorded(field->length), body = __nm_recorded(field->body);
    char *start = buffer + field->at + (field->left ? 0 : length - body);
    if (conversion->letter == 's') {
        const char *from = __nm_recorded_pointer(value->pointer);
        size_t room = start < end ? (size_t)(end - start) : 0;
        if (from != NULL)
            __nm_move_labels(start, from, body < room ? body : room);
    } else if (conversion->letter == 'c') {
        if (start < end)
            label_byte(start, (char)value->integer);
    } else if (!nm_value_is_concrete(value->integer)) {
        label_digits(start + body, end, conversion, field);
    }
}

/* What was printed before a %n, now with its label. */
static void label_count(const struct printed *printed, int number, size_t before)
{
    const struct nm_conversion *conversion = &printed->format.conversion[number];
    void *to = (void *)__nm_recorded_pointer(printed->format.value[conversion->argument].pointer);
    switch (conversion->size) {
    case 'H': *(signed char *)to = (signed char)before; break;
    case 'h': *(short *)to = (short)before; break;
    case 0: *(int *)to = (int)before; break;
    default: *(long long *)to = (long long)before; break;
    }
}

static void label_counts(const struct printed *printed, const char *text)
{
    size_t before = 0;
    for (int i = 0; i < printed->format.conversions; i++) {
        const struct nm_conversion *conversion = &printed->format.conversion[i];
        before += (size_t)(conversion->start - text);
        if (conversion->letter == 'n')
            label_count(printed, i, before);
        before += printed->field[i].length;
        text = conversion->end;
    }
}

/* Labels the `written` bytes at `buffer` and the zero byte behind them, which ends a string of
 * `length` bytes. */
static void label(const struct printed *printed, char *buffer, size_t written, size_t length)
{
    char *end = buffer + written, *next = buffer;
    for (int i = 0; printed->understood && i < printed->format.conversions; i++) {
        const struct field *field = &printed->field[i];
        char *start = buffer + field->at, *behind = start + __nm_recorded(field->length);
        if (start >= end)
            break;
        clear_labels(next, (size_t)(start - next));
        next = behind < end ? behind : end;
        /* A string may be printed onto itself: its own labels are not cleared before. */
        bool moves = printed->format.conversion[i].letter == 's' && is_done_here(&printed->format.conversion[i]);
        size_t pad = __nm_recorded(field->length) - __nm_recorded(field->body);
        if (!moves || pad != 0)
            clear_labels(start, (size_t)(next - start));
        label_field(printed, i, buffer, end);
    }
    clear_labels(next, (size_t)(end + 1 - next));
    if (printed->understood)
        __nm_end_string(end, length);
}

/* Whether libc did what was expected: else only its own answer counts. */
static bool is_as_expected(const struct printed *printed, int result)
{
    return printed->understood && result >= 0 && (size_t)result == __nm_recorded(printed->length);
}

/* Finishes a print of `result` bytes into `room` bytes at `buffer`: the answer with its label. */
static int finish(struct printed *printed, const char *text, char *buffer, size_t room, int result)
{
    printed->understood = is_as_expected(printed, result);
    size_t all = __nm_recorded(room);
    buffer = (char *)__nm_recorded_pointer(buffer);
    if (result >= 0 && all != 0) {
        size_t written = (size_t)result < all ? (size_t)result : all - 1;
        label(printed, buffer, written, limited(printed->length, room - 1));
    }
    if (!printed->understood)
        return result;
    label_counts(printed, text);
    return (int)printed->length;
}

/* The bytes that will be written, the zero byte included, must be inside their object. */
static void check_room(const struct printed *printed, const char *buffer, size_t room)
{
    if (printed->understood && __nm_recorded(room) != 0)
        __nm_writes(buffer, limited(printed->length + 1, room));
}

int NM_MODEL(vsnprintf)(char *buffer, size_t room, const char *text, va_list list)
{
    if (!nm_records())
        return __nm_real_vsnprintf(buffer, room, text, list);
    struct printed printed;
    account(&printed, text, list);
    check_room(&printed, buffer, room);
    int result = __nm_real_vsnprintf((char *)__nm_recorded_pointer(buffer), __nm_recorded(room), text, list);
    return finish(&printed, text, buffer, room, result);
}

int NM_MODEL(__vsnprintf_chk)(char *buffer, size_t room, int flag, size_t object, const char *text,
                              va_list list)
{
    if (!nm_records())
        return __nm_real_vsnprintf_chk(buffer, room, flag, object, text, list);
    struct printed printed;
    account(&printed, text, list);
    check_room(&printed, buffer, room);
    int result = __nm_real_vsnprintf_chk((char *)__nm_recorded_pointer(buffer), __nm_recorded(room), flag,
                                         __nm_recorded(object), text, list);
    return finish(&printed, text, buffer, room, result);
}

int NM_MODEL(vsprintf)(char *buffer, const char *text, va_list list)
{
    if (!nm_records())
        return __nm_real_vsprintf(buffer, text, list);
    struct printed printed;
    account(&printed, text, list);
    check_room(&printed, buffer, UNLIMITED);
    int result = __nm_real_vsprintf((char *)__nm_recorded_pointer(buffer), text, list);
    return finish(&printed, text, buffer, UNLIMITED, result);
}

int NM_MODEL(__vsprintf_chk)(char *buffer, int flag, size_t object, const char *text, va_list list)
{
    if (!nm_records())
        return __nm_real_vsprintf_chk(buffer, flag, object, text, list);
    struct printed printed;
    account(&printed, text, list);
    check_room(&printed, buffer, UNLIMITED);
    int result = __nm_real_vsprintf_chk((char *)__nm_recorded_pointer(buffer), flag, __nm_recorded(object),
                                        text, list);
    return finish(&printed, text, buffer, UNLIMITED, result);
}

/* libc's memory is exchanged for memory of the model of malloc, which knows its symbolic size. */
static int finish_allocated(struct printed *printed, const char *text, char **buffer, int result)
{
    if (result < 0)
        return result;
    char *theirs = *buffer;
    size_t length = is_as_expected(printed, result) ? printed->length : (size_t)result;
    char *ours = malloc(length + 1);
    if (ours == NULL)
        return finish(printed, text, theirs, UNLIMITED, result);
    __nm_real_move(ours, theirs, (size_t)result + 1);
    *buffer = ours;
    return finish(printed, text, ours, UNLIMITED, result);
}

int NM_MODEL(vasprintf)(char **buffer, const char *text, va_list list)
{
    if (!nm_records())
        return __nm_real_vasprintf(buffer, text, list);
    struct printed printed;
    account(&printed, text, list);
    int result = __nm_real_vasprintf(buffer, text, list);
    return finish_allocated(&printed, text, buffer, result);
}

int NM_MODEL(__vasprintf_chk)(char **buffer, int flag, const char *text, va_list list)
{
    if (!nm_records())
        return __nm_real_vasprintf_chk(buffer, flag, text, list);
    struct printed printed;
    account(&printed, text, list);
    int result = __nm_real_vasprintf_chk(buffer, flag, text, list);
    return finish_allocated(&printed, text, buffer, result);
}

NM_VARIADIC(text, sprintf, vsprintf, (char *buffer, const char *text, ...), buffer, text)
NM_VARIADIC(text, snprintf, vsnprintf, (char *buffer, size_t room, const char *text, ...), buffer, room, text)
NM_VARIADIC(text, asprintf, vasprintf, (char **buffer, const char *text, ...), buffer, text)
NM_VARIADIC(text, __sprintf_chk, __vsprintf_chk, (char *buffer, int flag, size_t object, const char *text, ...),
         buffer, flag, object, text)
NM_VARIADIC(text, __snprintf_chk, __vsnprintf_chk,
         (char *buffer, size_t room, int flag, size_t object, const char *text, ...),
         buffer, room, flag, object, text)
NM_VARIADIC(text, __asprintf_chk, __vasprintf_chk, (char **buffer, int flag, const char *text, ...),
         buffer, flag, text)
