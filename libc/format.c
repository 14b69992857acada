/* Reads printf's formats: flags, widths, precisions, sizes, positions ("%2$s").
 */
#include "format.h"

#include <limits.h>

#pragma GCC visibility push(hidden)

/* A decimal number, or -1 if it is too large to be one. */
static int read_number(const char **at)
{
    int number = 0;
    for (; nm_is_digit(**at); ++*at) {
        if (number > (INT_MAX - 9) / 10)
            return -1;
        number = number * 10 + (**at - '0');
    }
    return number;
}

/* "3$": the number of an argument, from 0; -1 if there is none. */
static int read_position(const char **at)
{
    const char *next = *at;
    int number = read_number(&next);
    if (number <= 0 || *next != '$')
        return -1;
    *at = next + 1;
    return number - 1;
}

static void read_flags(const char **at, struct nm_conversion *conversion)
{
    for (;; ++*at) {
        switch (**at) {
        case '-': conversion->left = true; break;
        case '+': conversion->plus = true; break;
        case ' ': conversion->space = true; break;
        case '#': conversion->alternate = true; break;
        case '0': conversion->zero = true; break;
        case '\'': case 'I': conversion->grouped = true; break;
        default: return;
        }
    }
}

/* A number, or a * that stands for an argument. False: neither can be. */
static bool read_count(const char **at, int *count, int *argument, int *next_argument)
{
    if (**at != '*') {
        *count = read_number(at);
        return *count >= 0;
    }
    ++*at;
    int position = read_position(at);
    *argument = position >= 0 ? position : (*next_argument)++;
    return true;
}

static char read_size(const char **at)
{
    char size = **at;
    switch (size) {
    case 'h':
        ++*at;
        if (**at != 'h')
            return 'h';
        ++*at;
        return 'H';
    case 'l':
        ++*at;
        *at += **at == 'l';
        return 'l';
    case 'q': case 'j': case 'z': case 'Z': case 't':
        ++*at;
        return 'l';
    case 'L':
        ++*at;
        return 'L';
    default:
        return 0;
    }
}

/* How the argument of a conversion is passed; NM_UNUSED: it has none, or is unknown. */
static enum nm_passed how_passed(const struct nm_conversion *conversion)
{
    bool is_long = conversion->size == 'l' || conversion->size == 'L';
    switch (conversion->letter) {
    case 'd': case 'i': case 'u': case 'x': case 'X': case 'o':
        return is_long ? NM_LONG : NM_INT;
    case 'c': case 'C':
        return NM_INT;
    case 's': case 'S': case 'p': case 'n':
        return NM_POINTER;
    case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A':
        return conversion->size == 'L' ? NM_LONG_DOUBLE : NM_DOUBLE;
    default:
        return NM_UNUSED;
    }
}

static bool use_value(struct nm_format *format, int number, enum nm_passed passed)
{
    if (number < 0)
        return true;
    if (number >= NM_MAX_VALUES)
        return false;
    if (format->passed[number] != NM_UNUSED && format->passed[number] != passed)
        return false;
    format->passed[number] = passed;
    if (number >= format->values)
        format->values = number + 1;
    return true;
}

/* Reads the conversion whose % is at `start`. */
static bool read_conversion(const char *start, struct nm_conversion *conversion, int *next_argument)
{
    *conversion = (struct nm_conversion){
        .start = start, .width = -1, .precision = -1,
        .argument = -1, .width_argument = -1, .precision_argument = -1};
    const char *at = start + 1;
    int position = read_position(&at);
    read_flags(&at, conversion);
    if (nm_is_digit(*at) || *at == '*')
        if (!read_count(&at, &conversion->width, &conversion->width_argument, next_argument))
            return false;
    if (*at == '.') {
        at++;
        if (*at == '-')
            return false;
        if (!read_count(&at, &conversion->precision, &conversion->precision_argument, next_argument))
            return false;
    }
    conversion->size = read_size(&at);
    conversion->letter = *at;
    if (how_passed(conversion) != NM_UNUSED)
        conversion->argument = position >= 0 ? position : (*next_argument)++;
    else if (*at != '%' && *at != 'm')
        return false;
    conversion->end = at + 1;
    return true;
}

bool __nm_read_format(const char *text, struct nm_format *format)
{
    format->conversions = 0;
    format->values = 0;
    for (int i = 0; i < NM_MAX_VALUES; i++)
        format->passed[i] = NM_UNUSED;
    int next_argument = 0;
    while (*text != 0) {
        if (*text != '%') {
            text++;
            continue;
        }
        if (format->conversions == NM_MAX_CONVERSIONS)
            return false;
        struct nm_conversion *conversion = &format->conversion[format->conversions++];
        if (!read_conversion(text, conversion, &next_argument))
            return false;
        if (!use_value(format, conversion->width_argument, NM_INT)
            || !use_value(format, conversion->precision_argument, NM_INT)
            || !use_value(format, conversion->argument, how_passed(conversion)))
            return false;
        text = conversion->end;
    }
    return true;
}

void __nm_read_values(struct nm_format *format, va_list list)
{
    for (int i = 0; i < format->values; i++) {
        union nm_value *value = &format->value[i];
        switch (format->passed[i]) {
        case NM_UNUSED: /* glibc takes an argument that nobody uses for an int */
        case NM_INT:
            value->integer = va_arg(list, int);
            break;
        case NM_LONG:
            value->integer = va_arg(list, long long);
            break;
        case NM_POINTER:
            value->pointer = va_arg(list, const void *);
            break;
        case NM_DOUBLE:
            value->number = va_arg(list, double);
            break;
        case NM_LONG_DOUBLE:
            value->long_number = va_arg(list, long double);
            break;
        }
    }
}
