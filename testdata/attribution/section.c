/* Code outside of .text: Valgrind knows its functions and not its lines. */
int kept = 1;

__attribute__((section("elsewhere"), noinline)) int apart(int x)
{
    int sum = 0;
    for (int i = 0; i < x; i++)
        sum += i * kept;
    return sum;
}

int main(void)
{
    return apart(100) == 0;
}
