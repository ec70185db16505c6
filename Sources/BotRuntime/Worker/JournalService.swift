import BotDispatch
import PikaCore
import ServiceLifecycle

/// Stores the event journal. Ends after the dispatcher and before the core, so that the last entries are stored too.
struct JournalService: Service {
    let journal: EventJournal
    let core: AppCore
    let clock: any CoreClock

    func run() async {
        await cancelWhenGracefulShutdown { await journal.run(with: core, clock: clock) }
    }
}
