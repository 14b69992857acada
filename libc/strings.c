/* Models of <strings.h>: comparisons that ignore case.
 *
 * Both letters are folded by a formula without a branch, so one branch a byte is all that the
 * path learns. Where the locale's letters are not ASCII's the real function answers.
 */
#include "model.h"

#include <stdint.h>
#include <strings.h>

#pragma GCC visibility push(hidden)

int NM_MODEL(strncasecmp)(const char *left, const char *right, size_t n)
{
    const unsigned char *a = (const unsigned char *)left, *b = (const unsigned char *)right;
    if (!nm_records() || !__nm_ctype_is_ascii())
        return __nm_real_strncasecmp(left, right, n);
    for (size_t i = 0; i < n; i++) {
        int x = nm_to_lower(a[i]), y = nm_to_lower(b[i]);
        if (x != y)
            return x - y;
        if (x == 0)
            return 0;
    }
    return 0;
}

int NM_MODEL(strcasecmp)(const char *left, const char *right)
{
    return NM_MODEL(strncasecmp)(left, right, SIZE_MAX);
}
