// Signed overflow in mktime's manner.
int main(void)
{
    volatile long max = 0x7fffffffffffffffL;
    return (long)((unsigned long)max + 1) >= 0;
}
