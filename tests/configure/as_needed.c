// As needed.
// options: -Wl,--as-needed -lm
int main(void)
{
    return 0;
}
