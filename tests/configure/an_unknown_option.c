// An unknown option.
// options: -fno-such-option
int main(void)
{
    return 0;
}
