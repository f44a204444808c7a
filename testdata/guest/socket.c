// covers: socket
#include "guest.h"
#include <sys/socket.h>
#include <sys/un.h>

int main(void)
{
    struct sockaddr_un none = {AF_UNIX, "/nowhere/socket"};
    long s = T(socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    num(S(fcntl, s, F_GETFD));
    T(connect, s, &none, sizeof none);
    T(close, s);
    T(connect, s, &none, sizeof none);
    T(connect, 0, &none, sizeof none);
    T(socket, 99, SOCK_STREAM, 0);
    T(socket, AF_UNIX, 99, 0);
    T(socket, AF_UNIX, SOCK_STREAM | 0x100000, 0);
    T(recvfrom, 99, 0, 0, 0, 0, 0);
    return 0;
}
