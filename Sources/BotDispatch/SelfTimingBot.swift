package import BotKit

/// A bot whose handlers enforce their own end: by a deadline of their own, and on a graceful shutdown by
/// ``EventPostponed``. The dispatcher does not apply the timeout of its policy.
package protocol SelfTimingBot: Bot {}

/// Thrown by a handler that could not start: the event is not completed, and is redelivered after the next start.
package struct EventPostponed: Error {
    package init() {}
}
