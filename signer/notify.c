#include "signer/notify.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

int notify_send(const char *socket_name, const char *text)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = socket_name == NULL ? 0 : strlen(socket_name);
    if (len == 0)
        return 0;
    if ((socket_name[0] != '/' && socket_name[0] != '@') || len < 2 || len >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, socket_name, len);
    if (socket_name[0] == '@')
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    socklen_t address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    ssize_t n = sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&address, address_len);
    close(fd);
    return n == (ssize_t)strlen(text) ? 0 : -1;
}
