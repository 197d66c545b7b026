// All of switch; falling through, default anywhere, strings, in a loop, nested; C's conversions of constants.
// run: -q
enum fruit { APPLE, PEAR = 5 };

BEGIN
{
	for (this->i = 0; this->i < 7; this->i++) {
		switch (this->i) {
		default:
			printf("%d other\n", this->i);
			break;
		case APPLE:
			printf("apple\n");
		case 1:
			printf("or one\n");
			break;
		case 2:
			continue;
		case PEAR:
			switch (this->i + 1) {
			case 6:
				printf("inner six\n");
				break;
			default:
				printf("inner other\n");
			}
			printf("pear\n");
		}
	}
	this->u = (uint32_t)-1;
	switch (this->u) {
	case -1:
		printf("minus one\n");
		break;
	}
	switch ("bash") {
	case "sh": printf("sh\n"); break;
	case "bash": printf("bash\n"); break;
	}
	switch (3) {
	}
	exit(0);
}
