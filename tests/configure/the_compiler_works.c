// The compiler works.
int main(void)
{
    return 0;
}
