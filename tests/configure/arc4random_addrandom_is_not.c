// Arc4random_addrandom is not.
char arc4random_addrandom(void);
int main(void)
{
    return arc4random_addrandom();
}
