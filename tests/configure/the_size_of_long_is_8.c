// The size of long is 8.
int main(void)
{
    static int test[1 - 2 * !(sizeof(long) == 8)];
    test[0] = 0;
    return test[0];
}
