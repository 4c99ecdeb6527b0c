/*
 * notify.h - tells a service manager that the signer is ready (the sd_notify datagram, without its library).
 */
#ifndef SIGNER_NOTIFY_H
#define SIGNER_NOTIFY_H

/* Sends `text` ("READY=1") to `socket_name`, the value of NOTIFY_SOCKET: an absolute path, or one that starts with '@' in the
 * abstract namespace. Does not block. 0, also when `socket_name` is NULL or empty; -1 when it could not be sent. */
int notify_send(const char *socket_name, const char *text);

#endif
