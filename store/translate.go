package store

// Translate gives an error of a driver, as whoever works on [DB.Pool] gets it,
// the meaning that it has in this package: errors.Is then finds [ErrDuplicate],
// [ErrForeignKey], [ErrInvalid], [ErrRetryable], [ErrUnavailable] or
// [ErrReadOnly] in it. An error that means nothing in particular is returned as
// it is.
func Translate(err error) error { return translate(err) }
