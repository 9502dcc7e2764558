// Rust's types and operators in C++: what translated programs and kernels stand on.
//
// `#[device]` translates a program's functions without knowing the types of their expressions. So
// every operator is a function template here that finds the types, and that means what Rust's operator
// means: integers wrap, shift amounts are masked, casts from floats saturate. A literal without a
// suffix is an `IntLiteral` or a `FloatLiteral`, which takes the type of the other operand.
//
// Translated text calls functions `p_...`. Names of users end in `_`, so they clash with nothing here.
// NVRTC compiles this without standard headers, and g++ (-std=c++17 -ffp-contract=off) compiles it too.

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define DEVICE static __device__ __forceinline__
#define DEVICE_MEMBER __device__ __forceinline__
#define ON_GPU 1
// No program needs all functions below.
#pragma nv_diag_suppress 177
#else
#define DEVICE static inline
#define DEVICE_MEMBER inline
#define ON_GPU 0
#endif

// ---------------------------------------------------------------------------------------------
// Types
// ---------------------------------------------------------------------------------------------

typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef float f32;
typedef double f64;

// The index of a proxy on its host.
typedef u32 LocalId;
// The id of a vertex in the whole graph.
typedef u64 GlobalId;

// Rust's `()`.
struct Unit {};

DEVICE bool operator==(Unit, Unit) { return true; }
DEVICE bool operator!=(Unit, Unit) { return false; }

// An integer literal of no type yet: bits in two's complement, which any integer type truncates.
struct IntLiteral {
    u64 bits;
    template <class T> DEVICE_MEMBER operator T() const { return (T)bits; }
};

// A float literal of no type yet, rounded once to each type.
struct FloatLiteral {
    f64 wide;
    f32 narrow;
    DEVICE_MEMBER operator f64() const { return wide; }
    DEVICE_MEMBER operator f32() const { return narrow; }
};

// The value that `None` does not have: `None` is an `Option<NoValue>` of no type yet.
struct NoValue {};

// The type that two operands have in Rust: a literal takes the type of the other one.
template <class A, class B> struct Common;
template <class A> struct Common<A, A> { typedef A type; };
template <class A> struct Common<A, IntLiteral> { typedef A type; };
template <class B> struct Common<IntLiteral, B> { typedef B type; };
template <> struct Common<IntLiteral, IntLiteral> { typedef IntLiteral type; };
template <class A> struct Common<A, FloatLiteral> { typedef A type; };
template <class B> struct Common<FloatLiteral, B> { typedef B type; };
template <> struct Common<FloatLiteral, FloatLiteral> { typedef FloatLiteral type; };
template <class A> struct Common<A, NoValue> { typedef A type; };
template <class B> struct Common<NoValue, B> { typedef B type; };
template <> struct Common<NoValue, NoValue> { typedef NoValue type; };

// Rust's `Option`.
template <class T> struct Option {
    bool is_some;
    T value;
    template <class To> DEVICE_MEMBER operator Option<To>() const;
};

template <class T> struct Common<Option<T>, Option<T>> { typedef Option<T> type; };
template <class A, class B> struct Common<Option<A>, Option<B>> {
    typedef Option<typename Common<A, B>::type> type;
};

template <class A, class B> using CommonOf = typename Common<A, B>::type;

// Rust's array of a fixed size.
template <class T, u64 N> struct Array {
    T values[N];
    DEVICE_MEMBER T& operator[](u64 index) { return values[index]; }
    DEVICE_MEMBER const T& operator[](u64 index) const { return values[index]; }
    DEVICE_MEMBER bool operator==(const Array& other) const {
        for (u64 i = 0; i < N; ++i) {
            if (!(values[i] == other.values[i])) return false;
        }
        return true;
    }
    DEVICE_MEMBER bool operator!=(const Array& other) const { return !(*this == other); }
};

template <class T, u64 N> struct Common<Array<T, N>, Array<T, N>> { typedef Array<T, N> type; };
template <class A, class B, u64 N> struct Common<Array<A, N>, Array<B, N>> {
    typedef Array<CommonOf<A, B>, N> type;
};

// The conversion of a literal, or of an option of one, to a type. Any other value has that type.
template <class To, class From> struct Convert {
    DEVICE To of(const From& from) { return (To)from; }
};
template <class T> struct Convert<T, T> {
    DEVICE T of(const T& from) { return from; }
};
template <class To> struct Convert<To, NoValue> {
    DEVICE To of(NoValue) { return To(); }
};
template <> struct Convert<NoValue, NoValue> {
    DEVICE NoValue of(NoValue value) { return value; }
};

template <class T, class From, u64 N> struct Convert<Array<T, N>, Array<From, N>> {
    DEVICE Array<T, N> of(const Array<From, N>& from) {
        Array<T, N> result;
        for (u64 i = 0; i < N; ++i) result.values[i] = Convert<T, From>::of(from.values[i]);
        return result;
    }
};
template <class T, u64 N> struct Convert<Array<T, N>, Array<T, N>> {
    DEVICE Array<T, N> of(const Array<T, N>& from) { return from; }
};

template <class To, class From> DEVICE To p_to(const From& from) {
    return Convert<To, From>::of(from);
}

template <class T> template <class To> DEVICE_MEMBER Option<T>::operator Option<To>() const {
    Option<To> result;
    result.is_some = is_some;
    result.value = p_to<To>(value);
    return result;
}

template <class A, class B> DEVICE bool operator==(const Option<A>& a, const Option<B>& b) {
    typedef CommonOf<A, B> T;
    return a.is_some == b.is_some && (!a.is_some || p_to<T>(a.value) == p_to<T>(b.value));
}
template <class A, class B> DEVICE bool operator!=(const Option<A>& a, const Option<B>& b) {
    return !(a == b);
}

// An option among a program's parameters: eight bytes that say whether there is a value, and the
// value in whole words.
template <class T> struct OptionParameter {
    u64 is_some;
    alignas(8) T value;
};

// An array in the device's memory.
template <class T> struct Slice {
    const T* values;
    u64 length;
    DEVICE_MEMBER const T& operator[](u64 index) const { return values[index]; }
};

// A vertex, seen from one of its proxies.
struct Vertex {
    LocalId local;
    GlobalId global;
};

// What hosts sum up over all vertices: the part of Rust's `Tally` that programs write.
struct Tally {
    u64 changed;
    f64 sums[4];
    i64 counts[4];
    f64 least[2];
    f64 greatest[2];
};

// What a type is, for functions that differ between integers and floats.
template <class T> struct Numbers {
    static constexpr bool IS_INTEGER = false, IS_FLOAT = false, IS_SIGNED = false;
};

// ---------------------------------------------------------------------------------------------
// Bits and what the processor has instructions for
// ---------------------------------------------------------------------------------------------

#if ON_GPU
DEVICE u32 p_to_bits(f32 x) { return __float_as_uint(x); }
DEVICE u64 p_to_bits(f64 x) { return (u64)__double_as_longlong(x); }
DEVICE f32 p_float_of_bits(u32 x) { return __uint_as_float(x); }
DEVICE f64 p_float_of_bits(u64 x) { return __longlong_as_double((i64)x); }
DEVICE u32 p_ones(u32 x) { return (u32)__popc(x); }
DEVICE u32 p_ones(u64 x) { return (u32)__popcll(x); }
DEVICE u32 p_leading(u32 x) { return (u32)__clz((i32)x); }
DEVICE u32 p_leading(u64 x) { return (u32)__clzll((i64)x); }
DEVICE f32 p_sqrt(f32 x) { return __fsqrt_rn(x); }
DEVICE f64 p_sqrt(f64 x) { return __dsqrt_rn(x); }
DEVICE f32 p_fused(f32 a, f32 b, f32 c) { return __fmaf_rn(a, b, c); }
DEVICE f64 p_fused(f64 a, f64 b, f64 c) { return __fma_rn(a, b, c); }
DEVICE f32 p_remainder(f32 a, f32 b) { return fmodf(a, b); }
DEVICE f64 p_remainder(f64 a, f64 b) { return fmod(a, b); }
DEVICE f32 p_floor(f32 x) { return floorf(x); }
DEVICE f64 p_floor(f64 x) { return floor(x); }
DEVICE f32 p_ceil(f32 x) { return ceilf(x); }
DEVICE f64 p_ceil(f64 x) { return ceil(x); }
#else
DEVICE u32 p_to_bits(f32 x) { u32 y; __builtin_memcpy(&y, &x, 4); return y; }
DEVICE u64 p_to_bits(f64 x) { u64 y; __builtin_memcpy(&y, &x, 8); return y; }
DEVICE f32 p_float_of_bits(u32 x) { f32 y; __builtin_memcpy(&y, &x, 4); return y; }
DEVICE f64 p_float_of_bits(u64 x) { f64 y; __builtin_memcpy(&y, &x, 8); return y; }
DEVICE u32 p_ones(u32 x) { return (u32)__builtin_popcount(x); }
DEVICE u32 p_ones(u64 x) { return (u32)__builtin_popcountll(x); }
DEVICE u32 p_leading(u32 x) { return x ? (u32)__builtin_clz(x) : 32; }
DEVICE u32 p_leading(u64 x) { return x ? (u32)__builtin_clzll(x) : 64; }
DEVICE f32 p_sqrt(f32 x) { return __builtin_sqrtf(x); }
DEVICE f64 p_sqrt(f64 x) { return __builtin_sqrt(x); }
DEVICE f32 p_fused(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
DEVICE f64 p_fused(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
DEVICE f32 p_remainder(f32 a, f32 b) { return __builtin_fmodf(a, b); }
DEVICE f64 p_remainder(f64 a, f64 b) { return __builtin_fmod(a, b); }
DEVICE f32 p_floor(f32 x) { return __builtin_floorf(x); }
DEVICE f64 p_floor(f64 x) { return __builtin_floor(x); }
DEVICE f32 p_ceil(f32 x) { return __builtin_ceilf(x); }
DEVICE f64 p_ceil(f64 x) { return __builtin_ceil(x); }
#endif

// ---------------------------------------------------------------------------------------------
// Constants of number types
// ---------------------------------------------------------------------------------------------

#define INTEGER_NUMBERS(TYPE, UNSIGNED, SIGNED, BITS, LEAST, GREATEST)                             \
    template <> struct Numbers<TYPE> {                                                             \
        typedef UNSIGNED Unsigned;                                                                 \
        static constexpr bool IS_INTEGER = true, IS_FLOAT = false, IS_SIGNED = SIGNED;             \
        static constexpr u32 NUM_BITS = BITS;                                                      \
        DEVICE TYPE ZERO_() { return 0; }                                                          \
        DEVICE TYPE MIN_() { return LEAST; }                                                       \
        DEVICE TYPE MAX_() { return GREATEST; }                                                    \
        DEVICE TYPE LEAST_() { return LEAST; }                                                     \
        DEVICE TYPE GREATEST_() { return GREATEST; }                                               \
        DEVICE u32 BITS_() { return BITS; }                                                        \
        DEVICE bool ROUNDS_() { return false; }                                                    \
    };

INTEGER_NUMBERS(u32, u32, false, 32, 0u, 0xffffffffu)
INTEGER_NUMBERS(i32, u32, true, 32, (-0x7fffffff - 1), 0x7fffffff)
INTEGER_NUMBERS(u64, u64, false, 64, 0ull, 0xffffffffffffffffull)
INTEGER_NUMBERS(i64, u64, true, 64, (-0x7fffffffffffffffll - 1), 0x7fffffffffffffffll)
#undef INTEGER_NUMBERS

#define FLOAT_NUMBERS(TYPE, UNSIGNED, TOP, INFINITE, FINITE, NOT_A_NUMBER, SMALLEST, STEP)         \
    template <> struct Numbers<TYPE> {                                                             \
        typedef UNSIGNED Bits;                                                                     \
        static constexpr bool IS_INTEGER = false, IS_FLOAT = true, IS_SIGNED = true;               \
        static constexpr UNSIGNED SIGN = TOP;                                                      \
        DEVICE TYPE ZERO_() { return 0; }                                                          \
        DEVICE TYPE MIN_() { return p_float_of_bits((UNSIGNED)(FINITE | TOP)); }                   \
        DEVICE TYPE MAX_() { return p_float_of_bits((UNSIGNED)FINITE); }                           \
        DEVICE TYPE LEAST_() { return p_float_of_bits((UNSIGNED)(INFINITE | TOP)); }               \
        DEVICE TYPE GREATEST_() { return p_float_of_bits((UNSIGNED)INFINITE); }                    \
        DEVICE TYPE INFINITY_() { return p_float_of_bits((UNSIGNED)INFINITE); }                    \
        DEVICE TYPE NEG_INFINITY_() { return p_float_of_bits((UNSIGNED)(INFINITE | TOP)); }        \
        DEVICE TYPE NAN_() { return p_float_of_bits((UNSIGNED)NOT_A_NUMBER); }                     \
        DEVICE TYPE MIN_POSITIVE_() { return p_float_of_bits((UNSIGNED)SMALLEST); }                \
        DEVICE TYPE EPSILON_() { return p_float_of_bits((UNSIGNED)STEP); }                         \
        DEVICE bool ROUNDS_() { return true; }                                                     \
    };

FLOAT_NUMBERS(f32, u32, 0x80000000u, 0x7f800000u, 0x7f7fffffu, 0x7fc00000u, 0x00800000u, 0x34000000u)
FLOAT_NUMBERS(f64, u64, 0x8000000000000000ull, 0x7ff0000000000000ull, 0x7fefffffffffffffull,
              0x7ff8000000000000ull, 0x0010000000000000ull, 0x3cb0000000000000ull)
#undef FLOAT_NUMBERS

template <> struct Numbers<bool> {
    static constexpr bool IS_INTEGER = false, IS_FLOAT = false, IS_SIGNED = false;
};

// ---------------------------------------------------------------------------------------------
// Parameters, places and choices
// ---------------------------------------------------------------------------------------------

DEVICE IntLiteral p_int(u64 bits) { return IntLiteral{bits}; }
DEVICE FloatLiteral p_float(f64 wide, f32 narrow) { return FloatLiteral{wide, narrow}; }

// A parameter as its functions see it.
template <class T> DEVICE const T& p_load(const T& value) { return value; }
template <class T> DEVICE Option<T> p_load(const OptionParameter<T>& option) {
    Option<T> result;
    result.is_some = option.is_some != 0;
    result.value = option.value;
    return result;
}

template <class A, class B> DEVICE Unit p_set(A& place, const B& value) {
    place = p_to<A>(value);
    return Unit{};
}

// An element. Indices are not checked.
template <class T, class I> DEVICE const T& p_at(const Slice<T>& slice, I index) {
    return slice.values[p_to<u64>(index)];
}
template <class T, u64 N, class I> DEVICE T& p_at(Array<T, N>& array, I index) {
    return array.values[p_to<u64>(index)];
}
template <class T, u64 N, class I> DEVICE const T& p_at(const Array<T, N>& array, I index) {
    return array.values[p_to<u64>(index)];
}
template <class T, u64 N, class I> DEVICE T& p_at(T (&array)[N], I index) {
    return array[p_to<u64>(index)];
}
template <class T, u64 N, class I> DEVICE const T& p_at(const T (&array)[N], I index) {
    return array[p_to<u64>(index)];
}

template <class T> DEVICE u64 p_len(const Slice<T>& slice) { return slice.length; }
template <class T, u64 N> DEVICE u64 p_len(const Array<T, N>&) { return N; }

// Arrays of values, of which literals take the type of the others.
template <class... T> struct CommonOfAll;
template <class A> struct CommonOfAll<A> { typedef A type; };
template <class A, class... Rest> struct CommonOfAll<A, Rest...> {
    typedef CommonOf<A, typename CommonOfAll<Rest...>::type> type;
};
template <class... T>
DEVICE Array<typename CommonOfAll<T...>::type, sizeof...(T)> p_array(T... values) {
    typedef typename CommonOfAll<T...>::type Element;
    return Array<Element, sizeof...(T)>{{p_to<Element>(values)...}};
}
template <u64 N, class T> DEVICE Array<T, N> p_repeat(T value) {
    Array<T, N> result;
    for (u64 i = 0; i < N; ++i) result.values[i] = value;
    return result;
}

// Calls one of two functions; a literal of one takes the type of the other.
template <class A, class B>
DEVICE auto p_select(bool condition, A then, B otherwise)
    -> CommonOf<decltype(then()), decltype(otherwise())> {
    typedef CommonOf<decltype(then()), decltype(otherwise())> T;
    if (condition) return p_to<T>(then());
    return p_to<T>(otherwise());
}

// std::mem::take and std::mem::replace.
template <class A> DEVICE A p_take(A& place) {
    A old = place;
    place = A();
    return old;
}
template <class A, class B> DEVICE A p_replace(A& place, const B& value) {
    A old = place;
    place = p_to<A>(value);
    return old;
}

// ---------------------------------------------------------------------------------------------
// Casts
// ---------------------------------------------------------------------------------------------

template <class To, class From> DEVICE To p_saturate(From x) {
    // Powers of two, which floats hold exactly.
    const From end = (From)(1ull << (Numbers<To>::NUM_BITS / 2)) *
                     (From)(1ull << (Numbers<To>::NUM_BITS / 2 - (Numbers<To>::IS_SIGNED ? 1 : 0)));
    if (x != x) return 0;
    if (x >= end) return Numbers<To>::MAX_();
    if (x <= (Numbers<To>::IS_SIGNED ? -end : (From)0)) return Numbers<To>::MIN_();
    return (To)x;
}

// Rust's `as`, and `From` between numbers.
template <class To, class From> struct Cast {
    DEVICE To of(From x) {
        if constexpr (Numbers<To>::IS_INTEGER && Numbers<From>::IS_FLOAT) {
            return p_saturate<To, From>(x);
        } else {
            return (To)x;
        }
    }
};
template <class To> struct Cast<To, IntLiteral> {
    DEVICE To of(IntLiteral x) { return (To)(i64)x.bits; }
};
template <class To> struct Cast<To, FloatLiteral> {
    DEVICE To of(FloatLiteral x) { return Cast<To, f64>::of(x.wide); }
};
template <> struct Cast<f32, FloatLiteral> {
    DEVICE f32 of(FloatLiteral x) { return x.narrow; }
};

template <class To, class From> DEVICE To p_cast(From x) { return Cast<To, From>::of(x); }

// Methods of Parton's `Number` and of ids.
template <class To, class From> DEVICE To p_from_f64(From x) { return p_cast<To>(p_to<f64>(x)); }
template <class T> DEVICE f64 p_to_f64(T x) { return p_cast<f64>(x); }
template <class T> DEVICE u64 p_to_u64(T x) { return p_cast<u64>(x); }
template <class To, class From> DEVICE To p_from_weight(From x) {
    if constexpr (Numbers<To>::IS_INTEGER) {
        return p_cast<To>(p_cast<u64>(x));
    } else {
        return p_cast<To>(p_cast<f64>(x));
    }
}
template <class To> DEVICE To p_from_weight(Unit) { return (To)1; }
template <class T> DEVICE u64 p_index(T x) { return (u64)x; }
template <class T> DEVICE T p_inner(T x) { return x; }
DEVICE GlobalId p_id(Vertex vertex) { return vertex.global; }

template <class To, class From> DEVICE To p_from_bits(From bits) {
    return p_float_of_bits(p_to<typename Numbers<To>::Bits>(bits));
}

// ---------------------------------------------------------------------------------------------
// Operators
// ---------------------------------------------------------------------------------------------

// Operators on two values of one type. Signed integers wrap, so they are computed without a sign.
template <class T> struct Operators {
    DEVICE T add(T a, T b) {
        if constexpr (Numbers<T>::IS_INTEGER) {
            typedef typename Numbers<T>::Unsigned U;
            return (T)((U)a + (U)b);
        } else {
            return a + b;
        }
    }
    DEVICE T sub(T a, T b) {
        if constexpr (Numbers<T>::IS_INTEGER) {
            typedef typename Numbers<T>::Unsigned U;
            return (T)((U)a - (U)b);
        } else {
            return a - b;
        }
    }
    DEVICE T mul(T a, T b) {
        if constexpr (Numbers<T>::IS_INTEGER) {
            typedef typename Numbers<T>::Unsigned U;
            return (T)((U)a * (U)b);
        } else {
            return a * b;
        }
    }
    // Rust panics where an integer is divided by 0; a device goes on with 0.
    DEVICE T div(T a, T b) {
        if constexpr (Numbers<T>::IS_INTEGER) {
            if (b == 0) return 0;
            if constexpr (Numbers<T>::IS_SIGNED) {
                if (b == -1) return sub(0, a);
            }
        }
        return a / b;
    }
    DEVICE T rem(T a, T b) {
        if constexpr (Numbers<T>::IS_INTEGER) {
            if (b == 0) return 0;
            if constexpr (Numbers<T>::IS_SIGNED) {
                if (b == -1) return 0;
            }
            return a % b;
        } else {
            return p_remainder(a, b);
        }
    }
    DEVICE T bit_and(T a, T b) { return (T)(a & b); }
    DEVICE T bit_or(T a, T b) { return (T)(a | b); }
    DEVICE T bit_xor(T a, T b) { return (T)(a ^ b); }
    DEVICE T neg(T a) {
        if constexpr (Numbers<T>::IS_FLOAT) {
            return p_float_of_bits((typename Numbers<T>::Bits)(p_to_bits(a) ^ Numbers<T>::SIGN));
        } else {
            return sub(0, a);
        }
    }
    DEVICE T invert(T a) { return (T)~a; }
    DEVICE bool eq(const T& a, const T& b) { return a == b; }
    DEVICE bool lt(const T& a, const T& b) { return a < b; }
    DEVICE bool le(const T& a, const T& b) { return a <= b; }
};

template <> struct Operators<IntLiteral> {
    typedef IntLiteral T;
    DEVICE T add(T a, T b) { return T{a.bits + b.bits}; }
    DEVICE T sub(T a, T b) { return T{a.bits - b.bits}; }
    DEVICE T mul(T a, T b) { return T{a.bits * b.bits}; }
    DEVICE T div(T a, T b) { return T{(u64)Operators<i64>::div((i64)a.bits, (i64)b.bits)}; }
    DEVICE T rem(T a, T b) { return T{(u64)Operators<i64>::rem((i64)a.bits, (i64)b.bits)}; }
    DEVICE T bit_and(T a, T b) { return T{a.bits & b.bits}; }
    DEVICE T bit_or(T a, T b) { return T{a.bits | b.bits}; }
    DEVICE T bit_xor(T a, T b) { return T{a.bits ^ b.bits}; }
    DEVICE T neg(T a) { return T{0 - a.bits}; }
    DEVICE T invert(T a) { return T{~a.bits}; }
    DEVICE bool eq(T a, T b) { return a.bits == b.bits; }
    DEVICE bool lt(T a, T b) { return (i64)a.bits < (i64)b.bits; }
    DEVICE bool le(T a, T b) { return (i64)a.bits <= (i64)b.bits; }
};

template <> struct Operators<FloatLiteral> {
    typedef FloatLiteral T;
    DEVICE T add(T a, T b) { return T{a.wide + b.wide, a.narrow + b.narrow}; }
    DEVICE T sub(T a, T b) { return T{a.wide - b.wide, a.narrow - b.narrow}; }
    DEVICE T mul(T a, T b) { return T{a.wide * b.wide, a.narrow * b.narrow}; }
    DEVICE T div(T a, T b) { return T{a.wide / b.wide, a.narrow / b.narrow}; }
    DEVICE T rem(T a, T b) {
        return T{p_remainder(a.wide, b.wide), p_remainder(a.narrow, b.narrow)};
    }
    DEVICE T neg(T a) { return T{-a.wide, -a.narrow}; }
    DEVICE bool eq(T a, T b) { return a.wide == b.wide; }
    DEVICE bool lt(T a, T b) { return a.wide < b.wide; }
    DEVICE bool le(T a, T b) { return a.wide <= b.wide; }
};

template <> struct Operators<bool> {
    DEVICE bool bit_and(bool a, bool b) { return a && b; }
    DEVICE bool bit_or(bool a, bool b) { return a || b; }
    DEVICE bool bit_xor(bool a, bool b) { return a != b; }
    DEVICE bool invert(bool a) { return !a; }
    DEVICE bool eq(bool a, bool b) { return a == b; }
    DEVICE bool lt(bool a, bool b) { return !a && b; }
    DEVICE bool le(bool a, bool b) { return !a || b; }
};

#define BINARY(NAME)                                                                               \
    template <class A, class B> DEVICE CommonOf<A, B> p_##NAME(A a, B b) {                         \
        typedef CommonOf<A, B> T;                                                                  \
        return Operators<T>::NAME(p_to<T>(a), p_to<T>(b));                                         \
    }                                                                                              \
    template <class A, class B> DEVICE Unit p_##NAME##_to(A& a, B b) {                             \
        a = Operators<A>::NAME(a, p_to<A>(b));                                                     \
        return Unit{};                                                                             \
    }

BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(div)
BINARY(rem)
BINARY(bit_and)
BINARY(bit_or)
BINARY(bit_xor)
#undef BINARY

template <class A> DEVICE A p_neg(A a) { return Operators<A>::neg(a); }
template <class A> DEVICE A p_not(A a) { return Operators<A>::invert(a); }

// The amount of a shift may have another type than the value.
template <class A, class B> DEVICE A p_shl(A a, B amount) {
    if constexpr (Numbers<A>::IS_INTEGER) {
        typedef typename Numbers<A>::Unsigned U;
        return (A)((U)a << (p_cast<u32>(amount) & (Numbers<A>::NUM_BITS - 1)));
    } else {
        return A{a.bits << (p_cast<u32>(amount) & 63)};
    }
}
template <class A, class B> DEVICE A p_shr(A a, B amount) {
    if constexpr (Numbers<A>::IS_INTEGER) {
        return (A)(a >> (p_cast<u32>(amount) & (Numbers<A>::NUM_BITS - 1)));
    } else {
        return A{a.bits >> (p_cast<u32>(amount) & 63)};
    }
}
template <class A, class B> DEVICE Unit p_shl_to(A& a, B amount) {
    a = p_shl(a, amount);
    return Unit{};
}
template <class A, class B> DEVICE Unit p_shr_to(A& a, B amount) {
    a = p_shr(a, amount);
    return Unit{};
}

#define COMPARISON(NAME, RESULT)                                                                   \
    template <class A, class B> DEVICE bool p_##NAME(const A& a, const B& b) {                     \
        typedef CommonOf<A, B> T;                                                                  \
        const T x = p_to<T>(a), y = p_to<T>(b);                                                    \
        return RESULT;                                                                             \
    }

COMPARISON(eq, Operators<T>::eq(x, y))
COMPARISON(ne, !Operators<T>::eq(x, y))
COMPARISON(lt, Operators<T>::lt(x, y))
COMPARISON(le, Operators<T>::le(x, y))
COMPARISON(gt, Operators<T>::lt(y, x))
COMPARISON(ge, Operators<T>::le(y, x))
#undef COMPARISON

// ---------------------------------------------------------------------------------------------
// Methods of numbers
// ---------------------------------------------------------------------------------------------

// Of a NaN and a number, the number.
template <class A, class B> DEVICE CommonOf<A, B> p_min(A a, B b) {
    typedef CommonOf<A, B> T;
    const T x = p_to<T>(a), y = p_to<T>(b);
    return y < x || x != x ? y : x;
}
template <class A, class B> DEVICE CommonOf<A, B> p_max(A a, B b) {
    typedef CommonOf<A, B> T;
    const T x = p_to<T>(a), y = p_to<T>(b);
    if constexpr (Numbers<T>::IS_FLOAT) {
        return y > x || x != x ? y : x;
    } else {
        return y >= x ? y : x;
    }
}
template <class A, class B, class C> DEVICE A p_clamp(A x, B least, C greatest) {
    const A low = p_to<A>(least), high = p_to<A>(greatest);
    if (x < low) x = low;
    if (x > high) x = high;
    return x;
}
template <class T> DEVICE T p_abs(T x) {
    if constexpr (Numbers<T>::IS_FLOAT) {
        return p_float_of_bits((typename Numbers<T>::Bits)(p_to_bits(x) & ~Numbers<T>::SIGN));
    } else {
        return x < 0 ? Operators<T>::neg(x) : x;
    }
}
template <class A, class B> DEVICE typename Numbers<A>::Unsigned p_abs_diff(A a, B other) {
    typedef typename Numbers<A>::Unsigned U;
    const A b = p_to<A>(other);
    return a < b ? (U)b - (U)a : (U)a - (U)b;
}

template <class A, class B> DEVICE A p_saturating_add(A a, B other) {
    const A b = p_to<A>(other), sum = Operators<A>::add(a, b);
    if constexpr (Numbers<A>::IS_SIGNED) {
        if (b >= 0 && sum < a) return Numbers<A>::MAX_();
        if (b < 0 && sum > a) return Numbers<A>::MIN_();
        return sum;
    } else {
        return sum < a ? Numbers<A>::MAX_() : sum;
    }
}
template <class A, class B> DEVICE A p_saturating_sub(A a, B other) {
    const A b = p_to<A>(other), difference = Operators<A>::sub(a, b);
    if constexpr (Numbers<A>::IS_SIGNED) {
        if (b >= 0 && difference > a) return Numbers<A>::MIN_();
        if (b < 0 && difference < a) return Numbers<A>::MAX_();
        return difference;
    } else {
        return b > a ? 0 : difference;
    }
}
template <class A, class B> DEVICE A p_saturating_mul(A a, B other) {
    typedef typename Numbers<A>::Unsigned U;
    const A b = p_to<A>(other);
    if constexpr (Numbers<A>::IS_SIGNED) {
        const bool is_negative = (a < 0) != (b < 0);
        const U x = (U)p_abs(a), y = (U)p_abs(b), product = x * y;
        const U most = (U)Numbers<A>::MAX_() + (is_negative ? 1 : 0);
        if ((x != 0 && product / x != y) || product > most) {
            return is_negative ? Numbers<A>::MIN_() : Numbers<A>::MAX_();
        }
        return is_negative ? (A)(0 - product) : (A)product;
    } else {
        const U product = a * b;
        return a != 0 && product / a != b ? Numbers<A>::MAX_() : product;
    }
}
// Parton's `Number::saturating_plus`, and `Number::plus`.
template <class A, class B> DEVICE A p_saturating_plus(A a, B b) {
    if constexpr (Numbers<A>::IS_FLOAT) {
        return a + p_to<A>(b);
    } else {
        return p_saturating_add(a, b);
    }
}
template <class A, class B> DEVICE A p_plus(A a, B b) { return Operators<A>::add(a, p_to<A>(b)); }

template <class A, class B> DEVICE A p_wrapping_add(A a, B b) { return p_plus(a, b); }
template <class A, class B> DEVICE A p_wrapping_sub(A a, B b) {
    return Operators<A>::sub(a, p_to<A>(b));
}
template <class A, class B> DEVICE A p_wrapping_mul(A a, B b) {
    return Operators<A>::mul(a, p_to<A>(b));
}
template <class A> DEVICE A p_wrapping_neg(A a) { return Operators<A>::neg(a); }
template <class A, class B> DEVICE A p_wrapping_shl(A a, B amount) { return p_shl(a, amount); }
template <class A, class B> DEVICE A p_wrapping_shr(A a, B amount) { return p_shr(a, amount); }

template <class T> DEVICE u32 p_count_ones(T x) { return p_ones((typename Numbers<T>::Unsigned)x); }
template <class T> DEVICE u32 p_leading_zeros(T x) {
    return p_leading((typename Numbers<T>::Unsigned)x);
}
template <class T> DEVICE u32 p_trailing_zeros(T x) {
    typedef typename Numbers<T>::Unsigned U;
    // The bits below the lowest one.
    return p_ones((U)(~(U)x & ((U)x - 1)));
}

template <class A, class B> DEVICE bool p_is_multiple_of(A a, B other) {
    const A b = p_to<A>(other);
    return b == 0 ? a == 0 : a % b == 0;
}

template <class A, class B, class C> DEVICE A p_mul_add(A a, B b, C c) {
    return p_fused(a, p_to<A>(b), p_to<A>(c));
}
template <class T> DEVICE bool p_is_nan(T x) { return x != x; }
template <class T> DEVICE bool p_is_finite(T x) { return p_abs(x) < Numbers<T>::INFINITY_(); }
template <class T> DEVICE bool p_is_infinite(T x) { return p_abs(x) == Numbers<T>::INFINITY_(); }

// ---------------------------------------------------------------------------------------------
// Options
// ---------------------------------------------------------------------------------------------

template <class T> DEVICE Option<T> p_some(T value) { return Option<T>{true, value}; }
DEVICE Option<NoValue> p_none() { return Option<NoValue>{false, NoValue{}}; }
template <class T> DEVICE bool p_is_some(const Option<T>& option) { return option.is_some; }
template <class T> DEVICE bool p_is_none(const Option<T>& option) { return !option.is_some; }
template <class T> DEVICE T p_value(const Option<T>& option) { return option.value; }

template <class A, class B> DEVICE CommonOf<A, B> p_unwrap_or(const Option<A>& option, B other) {
    typedef CommonOf<A, B> T;
    return option.is_some ? p_to<T>(option.value) : p_to<T>(other);
}
template <class T, class B, class F>
DEVICE auto p_map_or(const Option<T>& option, B other, F function)
    -> CommonOf<B, decltype(function(option.value))> {
    typedef CommonOf<B, decltype(function(option.value))> R;
    if (option.is_some) return p_to<R>(function(option.value));
    return p_to<R>(other);
}
template <class T, class F>
DEVICE auto p_map(const Option<T>& option, F function) -> Option<decltype(function(option.value))> {
    Option<decltype(function(option.value))> result;
    result.is_some = option.is_some;
    if (option.is_some) result.value = function(option.value);
    return result;
}
template <class T, class F> DEVICE bool p_is_some_and(const Option<T>& option, F function) {
    return option.is_some && function(option.value);
}
template <class T, class F> DEVICE bool p_is_none_or(const Option<T>& option, F function) {
    return !option.is_some || function(option.value);
}
template <class T> DEVICE Option<T> p_then_some(bool condition, T value) {
    return Option<T>{condition, value};
}
template <class F> DEVICE auto p_then(bool condition, F function) -> Option<decltype(function())> {
    Option<decltype(function())> result;
    result.is_some = condition;
    if (condition) result.value = function();
    return result;
}

// ---------------------------------------------------------------------------------------------
// Reductions
// ---------------------------------------------------------------------------------------------

template <class T> struct Min {
    typedef T Value;
    DEVICE T identity() { return Numbers<T>::GREATEST_(); }
    DEVICE T combine(T a, T b) { return b < a ? b : a; }
};
template <class T> struct Max {
    typedef T Value;
    DEVICE T identity() { return Numbers<T>::LEAST_(); }
    DEVICE T combine(T a, T b) { return b > a ? b : a; }
};
template <class T> struct Sum {
    typedef T Value;
    DEVICE T identity() { return 0; }
    DEVICE T combine(T a, T b) { return Operators<T>::add(a, b); }
};
template <class T> struct Or {
    typedef T Value;
    DEVICE T identity() { return 0; }
    DEVICE T combine(T a, T b) { return (T)(a | b); }
};
template <class T> struct Latest {
    typedef T Value;
    DEVICE T identity() { return T(); }
    DEVICE T combine(T, T b) { return b; }
};
