/*
 * notls: what libmicrohttpd wants of GnuTLS, for the file of `make static`.
 *
 * libmicrohttpd calls GnuTLS for HTTPS, which --serve never asks for; only gnutls_global_init() is called, when the program
 * starts, and 0 is success. GnuTLS itself would more than double the file, and Debian has no static form of what it needs.
 */
#define NONE(name)                                                                                 \
	int gnutls_##name(void);                                                                   \
	int gnutls_##name(void)                                                                    \
	{                                                                                          \
		return 0;                                                                          \
	}

NONE(alpn_set_protocols)
NONE(bye)
NONE(certificate_allocate_credentials)
NONE(certificate_free_credentials)
NONE(certificate_server_set_request)
NONE(certificate_set_dh_params)
NONE(certificate_set_retrieve_function2)
NONE(certificate_set_retrieve_function3)
NONE(certificate_set_x509_key_mem)
NONE(certificate_set_x509_key_mem2)
NONE(certificate_set_x509_trust_mem)
NONE(cipher_get)
NONE(credentials_set)
NONE(deinit)
NONE(dh_params_deinit)
NONE(dh_params_import_pkcs3)
NONE(dh_params_init)
NONE(global_deinit)
NONE(global_init)
NONE(handshake)
NONE(init)
NONE(priority_deinit)
NONE(priority_init)
NONE(priority_set)
NONE(protocol_get_version)
NONE(psk_allocate_server_credentials)
NONE(psk_free_server_credentials)
NONE(psk_set_server_credentials_function)
NONE(record_check_pending)
NONE(record_get_direction)
NONE(record_recv)
NONE(record_send)
NONE(session_get_ptr)
NONE(session_set_ptr)
NONE(strerror)
NONE(transport_set_int2)

extern void *(*gnutls_malloc)(unsigned long n);
void *(*gnutls_malloc)(unsigned long n);
