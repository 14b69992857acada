// Printf is there.
char printf(void);
int main(void)
{
    return printf() == 7;
}
