//@ command = "nearmiss explore network_order.c --function check"
//@ paths = 3
#include <arpa/inet.h>
#include <stdlib.h>

int check(unsigned x, unsigned short y)
{
    if (ntohl(x) == 0x01020304)
        abort(); //~ error[abort]
    if (htons(y) == 0x0102)
        return 2;
    return 0;
}
