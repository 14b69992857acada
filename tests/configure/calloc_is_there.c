// Calloc is there.
char calloc(void);
int main(void)
{
    return calloc() == 7;
}
