/*
 * pcap: where the packets of pcap() go: to a file in the format of libpcap, or through tshark.
 */
#ifndef DT_CONSUME_PCAP_H
#define DT_CONSUME_PCAP_H

#include "consume/writer.h"

typedef struct dt_pcap dt_pcap;
typedef struct dt_packet {
	const void *data;
	uint32_t captured, length; /* captured bytes, and original length */
	uint32_t link;
	uint64_t time; /* timestamp */
} dt_packet;
struct dt_pcap_file { /* opened by freopen() */
	FILE *stream;
	const char *path;
	bool was_empty; /* then */
	dt_buf *text;	/* gets what was printed to it before */
};

dt_pcap *dt_pcap_new(void);
void dt_pcap_free(dt_pcap *p);
/* What pcap() recorded; false: nothing. */
bool dt_packet_of(const dt_value *v, const dt_value *link, dt_packet *out);
/* Add it to the file. -1 and *err: not possible; the reason is given once for each file. */
int dt_pcap_write(dt_pcap *p, struct dt_pcap_file *f, const dt_packet *k, dt_error *err);
bool dt_pcap_has_file(const dt_pcap *p); /* packets have been written: text goes elsewhere */
void dt_pcap_end_file(dt_pcap *p);	 /* the file is being closed, or is empty again */
uint64_t dt_pcap_lost(dt_pcap *p); /* packets not written to a file, since the last call */
/* As tshark describes it; false: there is no tshark. */
bool dt_pcap_show(dt_pcap *p, const dt_packet *k, const struct dt_consumer_env *env, dt_buf *out);

#endif
