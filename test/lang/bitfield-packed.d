// Bit-fields of packed structs are read and written without touching memory beside or after the
// struct.
// run: -q -C
// needs: cpp
struct packed {
	uint16_t a;
	unsigned b : 4;
	unsigned c : 7;
	unsigned d : 5;
} __attribute__((packed));

struct odd {
	uint8_t a : 3;
	uint32_t b : 30;
	uint8_t c : 7;
	uint32_t d;
} __attribute__((packed));

BEGIN
{
	this->p = (struct packed *)alloca(sizeof (struct packed));
	this->o = (struct odd *)alloca(sizeof (struct odd));
	printf("%d %d\n", sizeof (struct packed), sizeof (struct odd));
	this->p->a = 0xffff;
	this->p->c = 0x55;
	this->p->d = 0x1f;
	this->p->b = 9;
	printf("%x %d %x %x\n", this->p->a, this->p->b, this->p->c, this->p->d);
	this->o->b = 0x3ffffffe;
	this->o->a = 5;
	this->o->c = 0x2a;
	printf("%d %x %x\n", this->o->a, this->o->b, this->o->c);
	this->o->b = 1;
	printf("%d %x %x\n", this->o->a, this->o->b, this->o->c);
	exit(0);
}
