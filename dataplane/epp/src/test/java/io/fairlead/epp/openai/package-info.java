/** Tests of the OpenAI wire format. */
@NullMarked
package io.fairlead.epp.openai;

import org.jspecify.annotations.NullMarked;
