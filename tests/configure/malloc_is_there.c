// Malloc is there.
char malloc(void);
int main(void)
{
    return malloc() == 7;
}
