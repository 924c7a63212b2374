/* A program with a function of another name in each build: -DFUNCTION=NAME. */
#include <unistd.h>

__attribute__((noinline)) int FUNCTION(void)
{
    return usleep(1000);
}

int main(void)
{
    return FUNCTION() == 0 ? 0 : 1;
}
