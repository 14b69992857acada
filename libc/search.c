/* Models of <search.h>: linear searches, whose comparisons are the program's own.
 */
#include "model.h"

#include <search.h>
#include <string.h>

#pragma GCC visibility push(hidden)

typedef int comparison(const void *, const void *);

void *NM_MODEL(lfind)(const void *key, const void *base, size_t *count, size_t size,
                      comparison *compare)
{
    const char *element = base;
    for (size_t i = 0; i < *count; i++, element += size)
        if (compare(key, element) == 0)
            return (void *)element;
    return NULL;
}

void *NM_MODEL(lsearch)(const void *key, void *base, size_t *count, size_t size,
                        comparison *compare)
{
    void *found = NM_MODEL(lfind)(key, base, count, size, compare);
    if (found != NULL)
        return found;
    return memcpy((char *)base + (*count)++ * size, key, size);
}
