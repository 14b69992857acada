// C99.
// options: -std=c99 -pedantic-errors
int main(void)
{
    for (int i = 0; i < 1; i++) ;
    return 0;
}
