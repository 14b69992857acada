/* printf's formats, taken apart: shared by the models that print into buffers and into streams.
 */
#ifndef NM_FORMAT_H
#define NM_FORMAT_H

#include "model.h"

#pragma GCC visibility push(hidden)

enum { NM_MAX_CONVERSIONS = 32, NM_MAX_VALUES = 48 };

/* How an argument is passed. */
enum nm_passed { NM_UNUSED, NM_INT, NM_LONG, NM_POINTER, NM_DOUBLE, NM_LONG_DOUBLE };

union nm_value {
    long long integer;
    const void *pointer;
    double number;
    long double long_number;
};

/* One conversion. Numbers of arguments start at 0; -1 is none. */
struct nm_conversion {
    const char *start;          /* the % */
    const char *end;            /* behind the letter */
    char letter;
    char size;                  /* H is hh, h, 0 is int, l is any of 64 bits, L long double */
    bool left, plus, space, alternate, zero, grouped;
    int width, precision;       /* -1: none */
    int argument, width_argument, precision_argument;
};

struct nm_format {
    int conversions, values;
    struct nm_conversion conversion[NM_MAX_CONVERSIONS];
    enum nm_passed passed[NM_MAX_VALUES];
    union nm_value value[NM_MAX_VALUES];
};

/* Takes a format apart. False: something is in it that is not understood here. */
bool __nm_read_format(const char *text, struct nm_format *format);
/* Fetches the arguments that it needs. */
void __nm_read_values(struct nm_format *format, va_list list);
/* How many bytes libc makes of one conversion of one value; less than 0: an error. */
int __nm_real_length(const char *conversion, enum nm_passed passed, const union nm_value *value);

#pragma GCC visibility pop

#endif
