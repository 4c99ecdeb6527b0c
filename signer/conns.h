/*
 * conns.h - all connections of the signer: their limits, what epoll watches for each, and what the next batch has to do.
 *
 * Invariant: the connections of all peers, of each user, and the bytes that are kept for them have maxima; a peer that
 * is over one, too slow, or breaks a rule loses its own connection and nothing else. The control socket keeps places of
 * its own, so that hooks can never keep a person from answering. Nothing here blocks. Hostile: the peers.
 *
 * Bytes are kept in three rooms, so that a few large payloads (or peers that only announce them) do not hold up the
 * many small ones, and neither holds up a person. A frame whose room is full is not read on until there is room.
 */
#ifndef SIGNER_CONNS_H
#define SIGNER_CONNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/err.h"
#include "signer/conn.h"
#include "signer/room.h"
#include "signer/tally.h"

enum {
    CONNS_MAX = 1024,             /* at once */
    CONNS_KEPT_FOR_CONTROL = 32,  /* of those */
    CONNS_PER_USER = 256,         /* on each socket */
    CONNS_DESCRIPTORS_KEPT = 64,  /* for the database and whatever else the process opens */
    CONNS_SMALL_BYTES = 64 << 10, /* the largest frame that is small */
    CONNS_SMALL_ROOM = 16 << 20,  /* for small hook frames */
    CONNS_LARGE_ROOM = 48 << 20,  /* for larger ones */
    CONNS_CONTROL_ROOM = 32 << 20 /* for requests and their replies */
};

/* How long a peer may take, in milliseconds. */
struct conns_times {
    int frame_ms; /* to send its frame */
    int write_ms; /* to take its answer */
    int idle_ms;  /* between two requests */
};
extern const struct conns_times CONNS_TIMES; /* 10 s, 10 s, 60 s */

enum conns_room { CONNS_SMALL, CONNS_LARGE, CONNS_CONTROL, CONNS_ROOMS };

/* What happened to peers, for the log. */
struct conns_dropped {
    unsigned refused; /* over a limit, or no memory */
    unsigned broken;  /* broke a rule of the protocol */
    unsigned slow;
    unsigned foreign; /* came to the control socket and was not its user */
};

struct conns {
    int epoll_fd;
    int spare_fd;    /* given up to refuse a connection when there are no more descriptors */
    size_t max;      /* CONNS_MAX, or what the descriptors allow */
    bool is_closing; /* the signer stops: a connection ends with its answer */
    int64_t seen_ms; /* no byte that is read now was sent before */
    struct conns_times times;
    size_t count;
    struct tally users[CONN_KINDS];
    uint64_t last_token;
    struct conn *slots; /* CONNS_MAX, of which `used` were ever used */
    size_t used;
    struct conn_queue free;
    struct conn_queue ready; /* READY, GONE and LOST */
    struct room rooms[CONNS_ROOMS];
    struct conns_dropped dropped;
};

/* Makes an empty set. Errors: IO, NOMEM; nothing is left then. */
enum err conns_open(struct conns *c, const struct conns_times *times, struct fault *fault) MUST_USE;
/* Closes every connection. */
void conns_close(struct conns *c);

/* Accepts what waits at a listening socket, up to a number, and reads what has come already. False: there are no
 * descriptors or no memory left even to refuse; leave the socket alone for a while. */
bool conns_accept(struct conns *c, int listener, enum conn_kind kind, int64_t now_ms);

/* What epoll says of a connection, and whose event that is: NULL when it is gone already. The lower half is below
 * CONNS_MAX. */
uint64_t conns_event_data(const struct conns *c, const struct conn *conn);
struct conn *conns_of_event(const struct conns *c, uint64_t data);

/* HEAD, BODY: reads on; a whole frame becomes READY. */
void conns_read(struct conns *c, struct conn *conn, int64_t now_ms);
/* HELD, PARKED, WRITE, with an answer set: writes on. DONE: all of it is out; an agent's connection is free then, a
 * control connection reads its next request. CLOSED: an agent's becomes LOST, a control connection is free. */
enum conn_result conns_write(struct conns *c, struct conn *conn, int64_t now_ms);
/* READY: becomes PARKED, and is watched only for its end from now on. */
void conns_park(struct conns *c, struct conn *conn);
/* PARKED: its end, or bytes that must not come. Becomes GONE. */
void conns_leave(struct conns *c, struct conn *conn, bool is_hangup);
/* The service is done with the frame: gives its bytes back, but for `kept`. */
void conns_end_frame(struct conns *c, struct conn *conn, size_t kept);
/* Gives a connection up, in any state but READY; GONE and LOST when the service has been told. */
void conns_drop(struct conns *c, struct conn *conn);

/* Lets connections that wait for room read on. */
void conns_feed(struct conns *c, int64_t now_ms);
/* Drops what is over its time. */
void conns_sweep(struct conns *c, int64_t now_ms);
/* The signer stops: drops whatever has not sent a whole frame, or writes no answer. */
void conns_stop_reading(struct conns *c);
/* Gives up what is not written yet, and whatever still waits: LOST and GONE. */
void conns_stop_writing(struct conns *c);
bool conns_is_writing(const struct conns *c);

/* A token for a hook's frame, and the connection that has it (NULL: none). Never 0, never the same again. */
uint64_t conns_new_token(struct conns *c, struct conn *conn);
struct conn *conns_find(const struct conns *c, uint64_t token);

#endif
