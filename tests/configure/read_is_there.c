// Read is there.
char read(void);
int main(void)
{
    return read() == 7;
}
