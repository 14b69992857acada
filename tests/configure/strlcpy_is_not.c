// Strlcpy is not.
char strlcpy(void);
int main(void)
{
    return strlcpy();
}
