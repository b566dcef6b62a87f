// Exchange between interpreters: what waits, and what the machine answers.
#pragma once
void exchange_init(void);
