//@ command = "nearmiss explore lost_float_text.c --function large --string s=1"
//@ incomplete = "only some values"
// A number with a fraction is concrete: the text has more values than are tried.
#include <stdlib.h>

int large(const char *s)
{
    return atof(s) > 2.5 ? 1 : 0;
}
