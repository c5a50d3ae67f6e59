/** The controllers: observe, validate, desire, apply, tell. */
@NullMarked
package io.fairlead.operator.reconcile;

import org.jspecify.annotations.NullMarked;
