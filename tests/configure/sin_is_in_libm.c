// Sin is in libm.
// options: -lm
char sin(void);
int main(void)
{
    return sin() == 7;
}
