package import BotKit

/// A bot whose handlers end by themselves: by a time limit of its own, and on a graceful shutdown by ``EventPostponed``.
/// The timeout of its policy is its own business.
package protocol SelfTimingBot: Bot {}

/// Thrown by a handler that could not begin: the event is not done with, and comes again after the next start.
package struct EventPostponed: Error {
    package init() {}
}
