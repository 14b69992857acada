// The size of long is 4.
int main(void)
{
    static int test[1 - 2 * !(sizeof(long) == 4)];
    test[0] = 0;
    return test[0];
}
