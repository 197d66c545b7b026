#!/usr/sbin/dtrace -s
/* Bit-fields, unions, shifts: a packet header read from scratch memory. */

#pragma D option quiet

struct ip {
	uint8_t hl:4, v:4;
	uint8_t tos;
	uint16_t len;
	uint16_t id;
	uint16_t off;
	uint8_t ttl, proto;
	uint16_t sum;
	uint8_t src[4], dst[4];
};

BEGIN
{
	this->p = (uint8_t *)alloca(20);
	this->p[0] = 0x45; this->p[1] = 0; this->p[2] = 0; this->p[3] = 84;
	this->p[4] = 0x12; this->p[5] = 0x34; this->p[6] = 0x40; this->p[7] = 0;
	this->p[8] = 64; this->p[9] = IPPROTO_ICMP; this->p[10] = 0; this->p[11] = 0;
	this->p[12] = 10; this->p[13] = 0; this->p[14] = 0; this->p[15] = 1;
	this->p[16] = 192; this->p[17] = 168; this->p[18] = 0; this->p[19] = 254;
	this->ip = (struct ip *)this->p;
	printf("v%d, %d bytes of header, %d in all, id %04x, flags %x\n", this->ip->v, this->ip->hl * 4,
	    ntohs(this->ip->len), ntohs(this->ip->id), ntohs(this->ip->off) >> 13);
	printf("%s -> %s, ttl %d, %s\n", inet_ntoa((ipaddr_t *)this->ip->src), inet_ntoa((ipaddr_t *)this->ip->dst), this->ip->ttl,
	    this->ip->proto == IPPROTO_ICMP ? "icmp" : "?");
	tracemem(this->p, 20);
	exit(0);
}
