/// The minimum CPU time of mlspp (C++, November 2025, OpenSSL 3.0, -O3), in milliseconds, measured on the same machine
/// and with the same settings as the floor.
enum Peer {
    static let name = "mlspp"
    static let send: [Int: [Int: Double]] = [
        2: [100: 0.115, 1024: 0.132], 100: [100: 0.114, 1024: 0.133], 1000: [100: 0.114, 1024: 0.130],
    ]
    static let receive: [Int: [Int: Double]] = [
        2: [100: 0.268, 1024: 0.286], 100: [100: 0.268, 1024: 0.287], 1000: [100: 0.261, 1024: 0.286],
    ]
    static let keyPackage = 0.286
    static let keyPackageVerification = 0.364
    /// By the number of members added to a new group.
    static let create = [9: 7.45, 99: 85.4, 999: 1688]
    /// By members after joining.
    static let joinFresh = [10: 1.68, 100: 14.0, 1000: 136]
    static let joinFull = [10: 1.91, 100: 15.1, 1000: 146]
    static let updateCreateFresh = [2: 0.650, 10: 1.82, 100: 13.0, 1000: 122]
    static let updateCreateFull = [2: 0.652, 10: 1.25, 100: 2.30, 1000: 7.05]
    static let updateProcessFresh = [2: 0.547, 10: 0.691, 100: 1.77, 1000: 14.8]
    static let updateProcessFull = [2: 0.548, 10: 0.699, 100: 1.85, 1000: 13.4]
    static let addCreateFresh = [10: 1.20, 100: 2.16, 1000: 11.7]
    static let addProcessFresh = [10: 0.645, 100: 0.917, 1000: 2.91]
    static let addCreateFull = [10: 1.24, 100: 2.61, 1000: 16.4]
    static let addProcessFull = [10: 0.655, 100: 1.01, 1000: 4.18]
    static let removeCreateFresh = [10: 1.72, 100: 13.0, 1000: 123]
    static let removeProcessFresh = [10: 0.696, 100: 1.60, 1000: 14.3]
    static let removeCreateFull = [10: 1.38, 100: 2.80, 1000: 8.68]
    static let removeProcessFull = [10: 0.717, 100: 1.87, 1000: 14.0]
}
