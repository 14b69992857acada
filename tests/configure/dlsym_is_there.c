// Dlsym is there.
// options: -ldl
char dlsym(void);
int main(void)
{
    return dlsym() == 7;
}
