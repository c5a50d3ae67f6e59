/**
 * What the production scheduler is compared with, as plugins of it: the rules of other schedulers
 * as their sources, at the versions named, have them. None of their code is here; what the
 * simulator can't know, such as a prompt's characters, is said where it stands.
 */
@NullMarked
package io.fairlead.lab.peers;

import org.jspecify.annotations.NullMarked;
