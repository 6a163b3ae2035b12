package cli

import "time"

// Every calls f again and again, until stop. When stop returns, f does not run
// any more. stop is called once.
func Every(d time.Duration, f func()) (stop func()) {
	ended, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		ticker := time.NewTicker(d)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				f()
			}
		}
	}()
	return func() {
		close(ended)
		<-finished
	}
}
