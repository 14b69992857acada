//@ command = "nearmiss explore harness_libfuzzer.c"
//@ paths = 5
// Too short; the first, second, third byte is another.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    if (data[0] == 'N' && data[1] == 'M' && data[2] == '!')
        abort(); //~ error[abort]
    return 0;
}
