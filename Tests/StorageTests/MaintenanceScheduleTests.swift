import Testing

@testable import Storage

@Suite struct MaintenanceScheduleTests {
    private let start = ContinuousClock.now  // not live: an origin of computed instants

    @Test func fewCommitsWaitForQuietAndPause() {
        var schedule = MaintenanceSchedule(freesMemory: false, now: self.start)
        #expect(schedule.beginWait(at: self.start) == nil)
        #expect(schedule.noteCommit(at: self.start + .seconds(1)) == false)
        #expect(schedule.beginWait(at: self.start + .seconds(1)) == .seconds(1))
        // A wait is in progress.
        #expect(schedule.beginWait(at: self.start + .seconds(1)) == nil)
        #expect(schedule.noteCommit(at: self.start + .milliseconds(1990)) == false)
        #expect(schedule.endWait(at: self.start + .seconds(2)) == nil)
        #expect(schedule.beginWait(at: self.start + .seconds(2)) == .milliseconds(40))
        #expect(schedule.endWait(at: self.start + .milliseconds(2040)) == .checkpoint)
        schedule.noteCheckpoint(at: self.start + .milliseconds(2050), isComplete: true)
        #expect(schedule.beginWait(at: self.start + .seconds(9)) == nil)
    }

    @Test func storeAtRestIsCheckpointedOnceQuiet() {
        var schedule = MaintenanceSchedule(freesMemory: false, now: self.start)
        #expect(schedule.noteCommit(at: self.start + .seconds(60)) == false)
        #expect(schedule.beginWait(at: self.start + .seconds(60)) == MaintenanceSchedule.quiet)
        #expect(schedule.endWait(at: self.start + .seconds(60) + MaintenanceSchedule.quiet) == .checkpoint)
    }

    @Test func manyCommitsNeedNoPause() {
        var schedule = MaintenanceSchedule(freesMemory: false, now: self.start)
        for _ in 0..<MaintenanceSchedule.run { #expect(schedule.noteCommit(at: self.start) == false) }
        #expect(schedule.beginWait(at: self.start) == MaintenanceSchedule.quiet)
        let rest = MaintenanceSchedule.largestRun - MaintenanceSchedule.run
        let due = (0..<rest).map { _ in schedule.noteCommit(at: self.start) }
        #expect(due == Array(repeating: false, count: rest - 1) + [true])
        schedule.noteCheckpoint(at: self.start, isComplete: true)
        #expect(schedule.endWait(at: self.start + MaintenanceSchedule.quiet) == nil)
    }

    @Test func incompleteCheckpointIsRepeated() {
        var schedule = MaintenanceSchedule(freesMemory: false, now: self.start)
        #expect(schedule.noteCommit(at: self.start) == false)
        schedule.noteCheckpoint(at: self.start, isComplete: false)
        #expect(schedule.beginWait(at: self.start) == MaintenanceSchedule.pause)
    }

    @Test func storeAtRestFreesMemoryOnce() {
        var schedule = MaintenanceSchedule(freesMemory: true, now: self.start)
        #expect(schedule.beginWait(at: self.start) == nil)
        #expect(schedule.noteCommit(at: self.start + .seconds(5)) == false)
        #expect(schedule.beginWait(at: self.start + .seconds(5)) == MaintenanceSchedule.quiet)
        #expect(schedule.endWait(at: self.start + .seconds(6)) == .checkpoint)
        schedule.noteCheckpoint(at: self.start + .seconds(6), isComplete: true)
        #expect(schedule.beginWait(at: self.start + .seconds(6)) == .seconds(9))
        #expect(schedule.endWait(at: self.start + .seconds(15)) == .freeMemory)
        #expect(schedule.beginWait(at: self.start + .seconds(15)) == nil)
        #expect(schedule.noteCommit(at: self.start + .seconds(20)) == false)
        #expect(schedule.beginWait(at: self.start + .seconds(20)) == MaintenanceSchedule.quiet)
        schedule.freeSoon()
        #expect(schedule.endWait(at: self.start + .seconds(21)) == .checkpoint)
        schedule.noteCheckpoint(at: self.start + .seconds(21), isComplete: true)
        #expect(schedule.beginWait(at: self.start + .seconds(21)) == .zero)
        #expect(schedule.endWait(at: self.start + .seconds(21)) == .freeMemory)
    }
}
