/* Models of <ctype.h>: formulas without a branch, with glibc's own result values.
 *
 * The formulas hold for every argument that the functions accept (-128 to 255 in glibc) as long
 * as the locale's tables are ASCII's; in any other locale the real function answers.
 */
#include "model.h"

#include <stdint.h>

#pragma GCC visibility push(hidden)

static inline int is_letter(int c)
{
    return ((unsigned)c | 32) - 'a' < 26;
}

static inline int is_hex_letter(int c)
{
    return ((unsigned)c | 32) - 'a' < 6;
}

static inline int is_graph(int c)
{
    return (unsigned)c - '!' < 94;
}

/* glibc answers with the bit of the class in its table, not with 1. */
#define CLASS_MODEL(name, bit, formula)                                                        \
    int NM_MODEL(name)(int c)                                                                  \
    {                                                                                          \
        if (!nm_records() || !__nm_ctype_is_ascii())                                           \
            return __nm_real_##name(c);                                                        \
        return (formula) << (bit);                                                             \
    }                                                                                          \
    int NM_MODEL(name##_l)(int c, locale_t locale)                                             \
    {                                                                                          \
        if (!nm_records() || !__nm_locale_is_ascii(locale))                                    \
            return __nm_real_##name##_l(c, locale);                                            \
        return (formula) << (bit);                                                             \
    }

CLASS_MODEL(isupper, 8, nm_is_upper(c))
CLASS_MODEL(islower, 9, nm_is_lower(c))
CLASS_MODEL(isalpha, 10, is_letter(c))
CLASS_MODEL(isdigit, 11, nm_is_digit(c))
CLASS_MODEL(isxdigit, 12, nm_is_digit(c) | is_hex_letter(c))
CLASS_MODEL(isspace, 13, nm_is_space(c))
CLASS_MODEL(isprint, 14, is_graph(c) | (c == ' '))
CLASS_MODEL(isgraph, 15, is_graph(c))
CLASS_MODEL(isblank, 0, (c == ' ') | (c == '\t'))
CLASS_MODEL(iscntrl, 1, ((unsigned)c < 32) | (c == 127))
CLASS_MODEL(ispunct, 2, is_graph(c) & ~(is_letter(c) | nm_is_digit(c)))
CLASS_MODEL(isalnum, 3, is_letter(c) | nm_is_digit(c))

/* The tables turn a negative `char` into its byte; EOF stays. */
static inline int as_byte(int c)
{
    return c + (((unsigned)c + 128 < 127) << 8);
}

#define CASE_MODEL(name, formula)                                                              \
    int NM_MODEL(name)(int c)                                                                  \
    {                                                                                          \
        if (!nm_records() || !__nm_ctype_is_ascii())                                           \
            return __nm_real_##name(c);                                                        \
        return formula;                                                                        \
    }                                                                                          \
    int NM_MODEL(name##_l)(int c, locale_t locale)                                             \
    {                                                                                          \
        if (!nm_records() || !__nm_locale_is_ascii(locale))                                    \
            return __nm_real_##name##_l(c, locale);                                            \
        return formula;                                                                        \
    }                                                                                          \
    int NM_MODEL(__##name##_l)(int c, locale_t locale)                                         \
    {                                                                                          \
        return NM_MODEL(name##_l)(c, locale);                                                  \
    }

CASE_MODEL(tolower, nm_to_lower(as_byte(c)))
CASE_MODEL(toupper, as_byte(c) & ~(nm_is_lower(c) << 5))

/* Bytes of a number in the order of the network. */

uint32_t NM_MODEL(htonl)(uint32_t number)
{
    return __builtin_bswap32(number);
}

uint32_t NM_MODEL(ntohl)(uint32_t number)
{
    return __builtin_bswap32(number);
}

uint16_t NM_MODEL(htons)(uint16_t number)
{
    return __builtin_bswap16(number);
}

uint16_t NM_MODEL(ntohs)(uint16_t number)
{
    return __builtin_bswap16(number);
}

/* ASCII, whatever the locale. */

int NM_MODEL(isascii)(int c)
{
    return (unsigned)c < 128;
}

int NM_MODEL(toascii)(int c)
{
    return c & 127;
}
